"""The peer written with kopf: `contestant.py foo|ping|slow default|best`.

`default` is the operator of kopf's walkthrough: synchronous handlers, the official client, default settings
(https://docs.kopf.dev/en/stable/walkthrough/creation/, https://docs.kopf.dev/en/stable/configuration/: "all the
settings have reasonable defaults"). `best` is asynchronous handlers, which block no thread while they wait
(https://docs.kopf.dev/en/stable/async/), on uvloop, "if you want extra I/O performance"
(https://docs.kopf.dev/en/stable/install/). The number of workers that handle events is unlimited in both: it is kopf's
default.
"""
import asyncio
import sys

import aiohttp
import kopf
import uvloop

import async_jobs
import sync_jobs

job, setting = sys.argv[1:3]
jobs = {'default': sync_jobs, 'best': async_jobs}[setting]
awaited = set({'foo': ['foos', 'deployments'], 'ping': ['pings'], 'slow': ['slows']}[job])
getattr(jobs, job)()


@kopf.on.login()
async def login(**kwargs):
    """Logs in as kopf does, with a session that reports when a watch has a response: kopf does not report that.

    https://docs.kopf.dev/en/stable/authentication/
    """
    info = kopf.login_with_kubeconfig(**kwargs)
    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(on_answer)
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=info.as_ssl_context()),
        headers=info.as_http_headers(),
        trace_configs=[trace],
    )
    return kopf.AiohttpSession(server=info.server, default_namespace=info.default_namespace, aiohttp_session=session)


async def on_answer(_session, _context, answered):
    if awaited and answered.url.query.get('watch') and answered.response.status == 200:
        awaited.discard(answered.url.name)
        if not awaited:
            sys.stdout.write('ready\n')
            sys.stdout.flush()


kopf.configure()
operator = kopf.operator(clusterwide=True, standalone=True)
with asyncio.Runner(loop_factory=uvloop.new_event_loop if setting == 'best' else None) as runner:
    runner.run(operator)
