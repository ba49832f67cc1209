// What `outrigger doctor --stage` finds of functions and of clusters. What counts as silence is in test/runtime/watchers-silent.test.ts.
import { describe, expect, it } from 'vitest';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { pem, startWireServer } from '../../kube/wire-server.ts';
import { account, findings, mappingOf, most, parameter, useDeployment } from './doctor-fixture.ts';

useDeployment();

describe('doctor, of functions', () => {
  const without = (name: string) =>
    account.mappings.filter((one) => JSON.stringify(one) !== JSON.stringify(mappingOf(name)));

  it('names a queue from which no function takes messages', async () => {
    account.mappings = without('foo.fifo');
    const { bad, status } = await findings();
    expect(bad).toMatchObject([{ state: 'wrong', about: 'function of foo.fifo' }]);
    expect(status).toBe(1);
  });

  it('points at a controller that is paused, and says how to resume it', async () => {
    const paused = ['foo.fifo', 'timers'].map((name) => mappingOf(name, { State: 'Disabled' }));
    account.mappings = [...account.mappings.filter((one) => !/foo|timers/.test(JSON.stringify(one))), ...paused];
    const { bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'warning', about: 'function of foo.fifo', fix: 'to go on: outrigger resume foo' },
      { state: 'warning', about: 'function of timers', fix: expect.stringContaining('--uuid uuid-of-timers') },
    ]);
    expect(status).toBe(0);
  });

  it('names one that fails whole batches, and one without a limit', async () => {
    account.mappings = [
      ...without('foo.fifo'),
      mappingOf('foo.fifo', { FunctionResponseTypes: [], ScalingConfig: {} }),
    ];
    const { bad } = await findings();
    expect(bad.map(({ about, says }) => `${about}: ${says}`)).toEqual([
      'function of foo.fifo: it does not report single failures of a batch',
      'function of foo.fifo: it has no maximumConcurrency, and may take all that the account has',
    ]);
  });

  it('says when together they may want more than the account has, as a new account’s 10', async () => {
    account.unreserved = 10;
    const { bad, status } = await findings();
    const says = `${most} functions may run at once, the account has 10 unreserved`;
    expect(bad).toMatchObject([
      { state: 'wrong', about: 'concurrency', says, fix: expect.stringContaining('raise the quota') },
    ]);
    expect(status).toBe(1);
  });

  it('says which right is missing where the account may not be read', async () => {
    account.unreserved = undefined;
    const { bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'warning', about: 'account', fix: expect.stringContaining('have this right given to you') },
    ]);
    expect(status).toBe(0);
  });
});

describe('doctor, of clusters', () => {
  it('names those that do not answer, whose certificate has changed, and whose entry is not valid, and looks at the others all the same', async () => {
    account.parameters['/outrigger/dev/clusters/dark'] = '{"server":"http://127.0.0.1:9","access":{"type":"none"}}';
    account.parameters['/outrigger/dev/clusters/odd'] = 'not JSON';
    const wire = await startWireServer((_, response) => response.destroy(), { tls: true });
    account.parameters['/outrigger/dev/clusters/moved'] = JSON.stringify({
      server: wire.url.href,
      ca: pem('other.pem'),
      access: { type: 'token', token: 'secret-token' },
    });
    account.parameters['/outrigger/dev/clusters/gone'] =
      '{"server":"http://127.0.0.1:9","access":{"type":"none"},"leaving":true}';
    const { all, bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'wrong', about: 'cluster dark', fix: expect.stringContaining('nothing answers there') },
      { state: 'warning', about: 'cluster gone', says: 'is leaving: its messages are deleted' },
      {
        state: 'wrong',
        about: 'cluster moved',
        says: 'it cannot be asked',
        fix: expect.stringContaining('cluster "moved": if its certificate has changed, put the CA certificate'),
      },
      {
        state: 'wrong',
        about: 'cluster odd',
        says: 'its entry cannot be used',
        fix: expect.stringContaining('cluster "odd"'),
      },
    ]);
    expect(all.filter(({ about, state }) => about === 'cluster berlin' && state === 'ok').length).toBeGreaterThan(2);
    expect(status).toBe(1);
    expect((await findings('--cluster', 'berlin')).bad).toEqual([]);
  });

  it('names what a cluster without our manifests lacks: the kinds, and watchers', async () => {
    await using bare = await startBare();
    account.parameters[parameter] = JSON.stringify({ server: bare.url, access: { type: 'none' } });
    const { bad } = await findings();
    const said = bad.map(({ says }) => says);
    expect(said).toContain('it has no watertanks.plant.example.com');
    expect(said).toContain('its watchers are silent: there is no cursor; apply infra/kubernetes/generated');
    const fixes = new Set(bad.filter(({ says }) => says.startsWith('it has no')).map(({ fix }) => fix));
    expect(fixes).toEqual(new Set(['kubectl apply --server-side -k infra/kubernetes']));
  });
});

async function startBare() {
  const server = await startApiServer();
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}
