"""What a Foo's Deployment is, whoever makes it."""
import kopf

FOOS = {'group': 'samples.example.com', 'version': 'v1', 'plural': 'foos'}

# Children are told by a label: https://docs.kopf.dev/en/stable/reconciliation/
LABEL = 'samples.example.com/foo'


def deployment_of(foo):
    """Returns the Deployment that the Foo is to have, owned by it: https://docs.kopf.dev/en/stable/hierarchies/"""
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
    """Returns how many replicas a status says are available."""
    return status.get('availableReplicas') or 0


def index_children():
    """Declares what the handlers know of other objects without asking: https://docs.kopf.dev/en/stable/indexing/"""

    @kopf.index('apps', 'v1', 'deployments', id='deployments', labels={LABEL: kopf.PRESENT})
    def deployments(namespace, labels, spec, status, **_):
        return {(namespace, labels[LABEL]): (spec['replicas'], available(status))}

    @kopf.index(**FOOS, id='foos')
    def foos(namespace, name, status, **_):
        return {(namespace, name): available(status)}


def first(index, key):
    """Returns the value of an index that has at most one for a key."""
    return next(iter(index.get(key, ())), None)
