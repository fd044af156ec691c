/* metrics.c - what the server has done and what it has in hand: for Prometheus, and for people. */
#include "mcp_http.h"
#include "server_inside.h"

#include <inttypes.h>

typedef struct Reading {
    const char *name, *type, *help;
    double value;
} Reading;

size_t server_runs(const Server *s, size_t *moving) {
    size_t n = 0;
    const Host *host = client_host(s->options.client);
    *moving = 0;
    for (HostRun *r = host_next(host, NULL); r; r = host_next(host, r)) {
        n++;
        *moving += !run_settled(host_run(r)) && !host_rests(r);
    }
    return n;
}

static double seconds_up(const Server *s) {
    uv_timeval64_t now;
    uv_gettimeofday(&now);
    return (double)(now.tv_sec * 1000 + now.tv_usec / 1000 - s->started) / 1000;
}

void metrics_text(const Server *s, Buf *out) {
    WebCounts web = web_server_counts(s->web);
    size_t moving = 0, held = server_runs(s, &moving), rss = 0;
    EngineCounts counts = host_counts(client_host(s->options.client));
    uv_resident_set_memory(&rss);
    const Reading readings[] = {
        {"pawl_uptime_seconds", "gauge", "Seconds since the server began.", seconds_up(s)},
        {"pawl_runs_held", "gauge", "Runs that this process has in memory.", (double)held},
        {"pawl_runs_moving", "gauge", "Those of them that go on by themselves.", (double)moving},
        {"pawl_runs_begun_total", "counter", "Runs that were started or resumed here.",
         (double)counts.runs},
        {"pawl_steps_total", "counter", "Steps that were recorded.", (double)counts.steps},
        {"pawl_commits_total", "counter", "Commits of the store.", (double)counts.commits},
        {"pawl_runs_waiting_for_turn", "gauge", "Runs that could go on and wait for their turn.",
         (double)counts.due},
        {"pawl_steps_waiting_to_start", "gauge",
         "Steps that wait for the store, or for room, before their work begins.",
         (double)counts.starting},
        {"pawl_steps_working", "gauge", "Steps whose commands or requests are under way.",
         (double)counts.working},
        {"pawl_commits_waiting", "gauge", "Batches of records that are not durable yet.",
         (double)counts.unsaved},
        {"pawl_events_waiting", "gauge", "Events that are told once the store has what they tell.",
         (double)counts.telling},
        {"pawl_store_jobs", "gauge", "Reads and changes of the store that were asked for and wait.",
         (double)host_jobs(client_host(s->options.client))},
        {"pawl_debug_windows", "gauge", "Debug sessions that the server keeps for REST.",
         (double)windows_count(s->windows)},
        {"pawl_loop_lag_seconds", "gauge", "How late the loop was at its last look.",
         s->lag_ms / 1000},
        {"pawl_events_sent_total", "counter", "Events that were sent to clients.",
         (double)s->events_sent},
        {"pawl_http_connections", "gauge", "Connections that are open.", (double)web.connections},
        {"pawl_http_connections_total", "counter", "Connections that were accepted.",
         (double)web.accepted},
        {"pawl_http_refused_total", "counter", "Connections that were refused.",
         (double)web.refused},
        {"pawl_http_requests_now", "gauge", "Requests that are being answered.",
         (double)web.requests_now},
        {"pawl_http_streams", "gauge", "Event streams that are open.", (double)web.streams},
        {"pawl_http_sockets", "gauge", "WebSockets that are open.", (double)web.sockets},
        {"pawl_mcp_sessions", "gauge", "Sessions of assistants (up to 2025-11-25).",
         (double)mcp_http_sessions(s->mcp)},
        {"pawl_http_bytes_waiting", "gauge", "Bytes that wait for clients to take them.",
         (double)web.waiting},
        {"pawl_http_bytes_in_total", "counter", "Bytes that came.", (double)web.bytes_in},
        {"pawl_http_bytes_out_total", "counter", "Bytes that were sent.", (double)web.bytes_out},
        {"process_resident_memory_bytes", "gauge", "Memory of the process.", (double)rss},
    };
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        const Reading *r = &readings[i];
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", r->name, r->help, r->name,
                   r->type, r->name, r->value);
    }
    buf_adds(out, "# HELP pawl_http_requests_total Requests by the class of their status.\n"
                  "# TYPE pawl_http_requests_total counter\n");
    for (int i = 1; i < STATUS_CLASSES; i++) {
        buf_printf(out, "pawl_http_requests_total{status=\"%dxx\"} %" PRIu64 "\n", i,
                   s->answered[i]);
    }
}

/* The operations that an asker of this scope is refused, with the scope that each needs. */
static Json beyond(OperationScope scope) {
    Json out = json_object();
    for (const Operation *op = operation_next(NULL); op; op = operation_next(op)) {
        if (op->scope <= scope) continue;
        out = json_object_with(out, op->name, json_string_c(operation_scope_names[op->scope]));
    }
    return out;
}

Json server_json(const Server *s, const Asker *asker) {
    WebCounts web = web_server_counts(s->web);
    size_t moving = 0, held = server_runs(s, &moving), rss = 0;
    Host *host = client_host(s->options.client);
    Store *store = host_store(host, HOST_READS, NULL);
    uv_resident_set_memory(&rss);
    const char *token = asker->name[0] ? asker->name : NULL;
    bool sends = asker->scope == SCOPE_ADMIN || s->options.allow_inline;
    Json you = OBJECT(KEY("token", token), KEY("scope", operation_scope_names[asker->scope]),
                      KEY("inline", sends), KEY("beyond", beyond(asker->scope)));
    Json about = OBJECT(
        KEY("version", PAWL_VERSION), KEY("store", store ? store_url(store) : NULL),
        KEY("auth", s->options.auth), KEY("folder", host_folder(host)),
        KEY("workflows", host_workflows(host)), KEY("started", json_time(s->started)),
        KEY("limits",
            OBJECT(KEY("body", s->options.max_body), KEY("rate", json_int(s->options.rate)),
                   KEY("runs", s->options.max_runs), KEY("connections", s->options.max_connections),
                   KEY("connections_each", s->options.max_connections_each))),
        KEY("load", OBJECT(KEY("runs_held", held), KEY("runs_moving", moving),
                           KEY("connections", web.connections), KEY("streams", web.streams),
                           KEY("sockets", web.sockets), KEY("memory", rss),
                           KEY("loop_lag_ms", s->lag_ms))));
    return OBJECT_ADD(about, KEY("you", you));
}
