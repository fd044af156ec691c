#!/bin/sh
# Calls one tool as an assistant's program would, and prints its answer.
#
#   examples/assistants/call.sh TOOL [ARGUMENTS]
#
# ARGUMENTS is a JSON object. Each call starts `pawl mcp` anew; an assistant's program starts it once.
hello='{"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "call.sh", "version": "1"}}'
printf '{"jsonrpc": "2.0", "id": %s, "method": "%s", "params": %s}\n' \
    0 initialize "$hello" \
    1 tools/call "{\"name\": \"$1\", \"arguments\": ${2:-{\}}}" |
    pawl mcp $PAWL_MCP_OPTIONS |
    pawl eval -r 'select(.id == 1) | .result.content[0].text // .error.message'
