// Records of a Service by an HTTP API, and of an Ingress in Route 53.
import { Ingress, Service } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { describe, expect, it } from 'vitest';
import { externalDnsIngress, externalDnsService } from '../../src/controllers/external-dns.ts';
import { startHttpDns, startRoute53 } from '../outside/dns.ts';

const annotated = (hostname: string, target: string) => ({
  'external-dns.alpha.kubernetes.io/hostname': hostname,
  'external-dns.alpha.kubernetes.io/target': target,
});
const service = (hostname: string, target: string, name = 'api') => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name, annotations: annotated(hostname, target) },
  spec: { ports: [{ port: 443 }] },
});
const ingress = (hostname: string, target: string, name = 'api') => ({
  ...service(hostname, target, name),
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  spec: { defaultBackend: { service: { name: 'api', port: { number: 443 } } } },
});

describe.each([
  { controller: externalDnsService, kind: Service, sample: service, start: startHttpDns, dot: '' },
  { controller: externalDnsIngress, kind: Ingress, sample: ingress, start: startRoute53, dot: '.' },
])('$controller.name', ({ controller, kind, sample, start, dot }) => {
  const key = { namespace: 'default', name: 'api' };

  it('the records follow the annotations, stay with their first owner, and go with the object', async () => {
    const dns = await start();
    await using system = await startSystem({ controllers: [controller], environment: dns.environment ?? {} });
    const records = async (object: object) => {
      await system.cluster.apply(object);
      await system.settled();
      return dns.state?.();
    };
    expect(await records(sample('a.test,b.test', '192.0.2.1'))).toEqual({
      [`a.test${dot}`]: ['192.0.2.1'],
      [`b.test${dot}`]: ['192.0.2.1'],
    });
    expect(await records(sample('a.test', 'lb.test'))).toEqual({ [`a.test${dot}`]: ['lb.test'] });
    expect(await records(sample('a.test', '192.0.2.9', 'thief'))).toEqual({ [`a.test${dot}`]: ['lb.test'] });
    await system.cluster.delete(kind, { ...key, name: 'thief' });
    await system.cluster.delete(kind, key);
    await system.settled();
    expect(dns.state?.()).toEqual({});
    await dns.close?.();
  });

  it('no function starts without a place for its records', async () => {
    await expect(startSystem({ controllers: [controller] })).rejects.toThrow(
      'needs in its environment DNS_URL or ZONE_ID',
    );
  });

  it('a name with a wildcard, capital letters and a dot at its end is found again', async () => {
    const dns = await start();
    await using system = await startSystem({ controllers: [controller], environment: dns.environment ?? {} });
    for (const target of ['192.0.2.1', '192.0.2.2']) {
      await system.cluster.apply(sample('*.A.test.', target));
      await system.settled();
    }
    expect(dns.state?.()).toEqual({ [dot === '' ? '*.a.test' : '\\052.a.test.']: ['192.0.2.2'] });
    await system.cluster.delete(kind, key);
    await system.settled();
    expect(dns.state?.()).toEqual({});
    await dns.close?.();
  });

  const samples = [sample('a.test', '192.0.2.1'), sample('b.test,c.test', 'lb.test')];
  for (const { name, run } of battery(controller, { samples, outside: start })) it(name, run);
});
