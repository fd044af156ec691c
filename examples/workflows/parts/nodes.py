"""Functions for nodes of ../python.yaml."""

from pawl import log, node, serve


@node
def shout(state, env):
    log("shouting", state["picked"])
    return {"shouted": state["picked"].upper() + env["MARK"]}


serve()
