"""The Deployment of a Foo, for both kinds of handlers."""
import kopf

FOOS = {'group': 'samples.example.com', 'version': 'v1', 'plural': 'foos'}

# Children are identified by a label: https://docs.kopf.dev/en/stable/reconciliation/
LABEL = 'samples.example.com/foo'


def deployment_of(foo):
    """Returns the Deployment of a Foo, with its owner reference: https://docs.kopf.dev/en/stable/hierarchies/"""
    name, spec = foo['metadata']['name'], foo['spec']
    labels = {'app': 'nginx', 'controller': name}
    deployment = {
        'apiVersion': 'apps/v1',
        'kind': 'Deployment',
        'metadata': {'name': spec['deploymentName'], 'namespace': foo['metadata']['namespace'], 'labels': {LABEL: name}},
        'spec': {
            'replicas': spec['replicas'],
            'selector': {'matchLabels': labels},
            'template': {
                'metadata': {'labels': labels},
                'spec': {'containers': [{'name': 'nginx', 'image': 'nginx:latest'}]},
            },
        },
    }
    kopf.append_owner_reference(deployment, owner=foo)
    return deployment


def available(status):
    """Returns the available replicas of a status."""
    return status.get('availableReplicas') or 0


def index_children():
    """Declares the indexes of other objects for the handlers: https://docs.kopf.dev/en/stable/indexing/"""

    @kopf.index('apps', 'v1', 'deployments', id='deployments', labels={LABEL: kopf.PRESENT})
    def deployments(namespace, labels, spec, status, **_):
        return {(namespace, labels[LABEL]): (spec['replicas'], available(status))}

    @kopf.index(**FOOS, id='foos')
    def foos(namespace, name, status, **_):
        return {(namespace, name): available(status)}


def first(index, key):
    """Returns the only value of a key in an index."""
    return next(iter(index.get(key, ())), None)
