// The certificate of a Certificate: issued once, again for other names and before its end, and never for a Secret of others.
import path from 'node:path';
import { Secret } from 'outrigger/kubernetes';
import { battery, startSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { Certificate, certificateIssuer } from '../../src/controllers/certificate-issuer.ts';
import { startVault } from '../outside/vault.ts';

const key = { namespace: 'default', name: 'shop' };
const secretKey = { ...key, name: 'shop-tls' };
const sample = (...dnsNames: readonly string[]) => ({
  apiVersion: Certificate.apiVersion,
  kind: 'Certificate',
  metadata: { ...key, labels: { 'pki.example.com/issuer': 'vault' } },
  spec: { secretName: 'shop-tls', issuerRef: { name: 'vault' }, duration: '30h', dnsNames },
});
/** cert-manager's CRD, as far as the example needs it. */
const crds = [path.join(import.meta.dirname, '../../samples/certificate-issuer.yaml')];

it('one certificate for each set of names and each twenty hours, of which the status says the end', async () => {
  const clock = { now: () => new Date() };
  const { environment = {}, secrets = {}, issued, close } = await startVault({ now: () => clock.now() });
  await using system = await startSystem({ controllers: [certificateIssuer], crds, environment, secrets });
  clock.now = () => system.now();
  const count = async (object: object) => {
    await system.cluster.apply(object);
    await system.settled();
    return issued();
  };
  expect(await count(sample('a.test'))).toBe(1);
  expect((await system.cluster.get(Secret, secretKey))?.type).toBe('kubernetes.io/tls');
  expect((await system.cluster.get(Certificate, key))?.status).toMatchObject({ notAfter: expect.any(String) });
  expect(await count(sample('a.test', 'b.test'))).toBe(2);
  await system.advance(19 * 60);
  expect(issued()).toBe(2);
  await system.advance(2 * 60);
  expect(issued()).toBe(3);

  await system.cluster.delete(Secret, secretKey);
  await system.settled();
  expect(issued()).toBe(4);
  await close?.();
});

it('no certificate is issued for a Secret of somebody else', async () => {
  const { environment = {}, secrets = {}, issued, close } = await startVault({ now: () => new Date() });
  await using system = await startSystem({ controllers: [certificateIssuer], crds, environment, secrets });
  await system.cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: secretKey, stringData: { mine: 'yes' } });
  await system.cluster.apply(sample('a.test'));
  await system.advance(60);
  expect(issued()).toBe(0);
  expect(Object.keys((await system.cluster.get(Secret, secretKey))?.data ?? {})).toEqual(['mine']);
  await close?.();
});

const options = { crds, changesWithTime: true, outside: startVault };
for (const { name, run } of battery(certificateIssuer, { samples: [sample('a.test'), sample('b.test')], ...options }))
  it(name, run);
