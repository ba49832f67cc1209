"""The jobs in asynchronous handlers, which run in kopf's own loop; each function declares the handlers of one."""
import os

import aiohttp
import kopf
import kubernetes_asyncio
from kubernetes_asyncio.client.exceptions import ApiException

from children import FOOS, LABEL, available, deployment_of, first, index_children

# Without it the client sends a dictionary as a list of JSON patches.
MERGE = 'application/merge-patch+json'


def ping():
    @kopf.on.resume('bench.example.com', 'v1', 'pings')
    @kopf.on.create('bench.example.com', 'v1', 'pings')
    @kopf.on.update('bench.example.com', 'v1', 'pings', field='spec')
    async def observe(spec, status, patch, **_):
        if status.get('observed') != spec['value']:
            patch.status['observed'] = spec['value']


def slow():
    @kopf.on.startup()
    async def connect(memo, **_):
        # All objects are handled concurrently, which is kopf's default, unless the harness sets a limit of calls.
        at_once = int(os.environ.get('CONCURRENCY', 0))
        memo.outside = aiohttp.ClientSession(os.environ['OUTSIDE_URL'], connector=aiohttp.TCPConnector(limit=at_once))

    @kopf.on.cleanup()
    async def disconnect(memo, **_):
        await memo.outside.close()

    @kopf.on.resume('bench.example.com', 'v1', 'slows')
    @kopf.on.create('bench.example.com', 'v1', 'slows')
    @kopf.on.update('bench.example.com', 'v1', 'slows', field='spec')
    async def observe(namespace, name, spec, status, patch, memo, **_):
        if status.get('observed') != spec['value']:
            async with memo.outside.get(f'/slow/{namespace}/{name}', raise_for_status=True) as response:
                await response.read()
            patch.status['observed'] = spec['value']


def foo():
    index_children()

    @kopf.on.startup()
    async def connect(memo, **_):
        await kubernetes_asyncio.config.load_kube_config()
        memo.client = kubernetes_asyncio.client.ApiClient()
        memo.apps = kubernetes_asyncio.client.AppsV1Api(memo.client)
        memo.custom = kubernetes_asyncio.client.CustomObjectsApi(memo.client)

    @kopf.on.cleanup()
    async def disconnect(memo, **_):
        await memo.client.close()

    @kopf.on.resume(**FOOS)
    @kopf.on.create(**FOOS)
    @kopf.on.update(**FOOS, field='spec')
    async def ensure(namespace, name, body, spec, patch, memo, deployments, **_):
        known = first(deployments, (namespace, name))
        if known is None:
            await create(memo.apps, body)
        elif known[0] != spec['replicas']:
            new = {'spec': {'replicas': spec['replicas']}}
            await memo.apps.patch_namespaced_deployment(spec['deploymentName'], namespace, new)
        if 'availableReplicas' not in body.status:
            patch.status['availableReplicas'] = 0 if known is None else known[1]

    @kopf.on.event('apps', 'v1', 'deployments', labels={LABEL: kopf.PRESENT})
    async def report(type, namespace, labels, status, memo, foos, **_):
        name = labels[LABEL]
        known = first(foos, (namespace, name))
        if known is None:
            return
        if type == 'DELETED':
            await create(memo.apps, await memo.custom.get_namespaced_custom_object(**FOOS, namespace=namespace, name=name))
        elif known != available(status):
            new = {'status': {'availableReplicas': available(status)}}
            await memo.custom.patch_namespaced_custom_object_status(**FOOS, namespace=namespace, name=name, body=new, _content_type=MERGE)


async def create(apps, foo):
    try:
        await apps.create_namespaced_deployment(foo['metadata']['namespace'], deployment_of(foo))
    except ApiException as error:
        if error.status != 409:
            raise
