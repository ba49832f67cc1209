"""The jobs in synchronous handlers, which kopf runs in threads; each function declares the handlers of one."""
import os
import urllib.request

import kopf
import kubernetes
from kubernetes.client.exceptions import ApiException

from children import FOOS, LABEL, available, deployment_of, first, index_children


def ping():
    @kopf.on.resume('bench.example.com', 'v1', 'pings')
    @kopf.on.create('bench.example.com', 'v1', 'pings')
    @kopf.on.update('bench.example.com', 'v1', 'pings', field='spec')
    def observe(spec, status, patch, **_):
        if status.get('observed') != spec['value']:
            patch.status['observed'] = spec['value']


def slow():
    @kopf.on.resume('bench.example.com', 'v1', 'slows')
    @kopf.on.create('bench.example.com', 'v1', 'slows')
    @kopf.on.update('bench.example.com', 'v1', 'slows', field='spec')
    def observe(namespace, name, spec, status, patch, **_):
        if status.get('observed') != spec['value']:
            with urllib.request.urlopen(f"{os.environ['OUTSIDE_URL']}/slow/{namespace}/{name}") as response:
                response.read()
            patch.status['observed'] = spec['value']


def foo():
    index_children()

    @kopf.on.startup()
    def connect(memo, **_):
        kubernetes.config.load_kube_config()
        memo.apps = kubernetes.client.AppsV1Api()
        memo.custom = kubernetes.client.CustomObjectsApi()

    @kopf.on.resume(**FOOS)
    @kopf.on.create(**FOOS)
    @kopf.on.update(**FOOS, field='spec')
    def ensure(namespace, name, body, spec, patch, memo, deployments, **_):
        known = first(deployments, (namespace, name))
        if known is None:
            create(memo.apps, body)
        elif known[0] != spec['replicas']:
            memo.apps.patch_namespaced_deployment(spec['deploymentName'], namespace, {'spec': {'replicas': spec['replicas']}})
        if 'availableReplicas' not in body.status:
            patch.status['availableReplicas'] = 0 if known is None else known[1]

    @kopf.on.event('apps', 'v1', 'deployments', labels={LABEL: kopf.PRESENT})
    def report(type, namespace, labels, status, memo, foos, **_):
        name = labels[LABEL]
        known = first(foos, (namespace, name))
        if known is None:
            return
        if type == 'DELETED':
            create(memo.apps, memo.custom.get_namespaced_custom_object(**FOOS, namespace=namespace, name=name))
        elif known != available(status):
            new = {'status': {'availableReplicas': available(status)}}
            memo.custom.patch_namespaced_custom_object_status(**FOOS, namespace=namespace, name=name, body=new)


def create(apps, foo):
    try:
        apps.create_namespaced_deployment(foo['metadata']['namespace'], deployment_of(foo))
    except ApiException as error:
        if error.status != 409:
            raise
