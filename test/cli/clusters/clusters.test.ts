// `outrigger clusters access` as a person runs it: what it prints for each kind of access, and what a shell makes of that. The aws
// and the kubectl that the shell finds only write down how they were called.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clustersCommand } from '../../../src/cli/clusters/clusters.ts';
import { registry } from '../../../src/controllers/registry.ts';
import { accessEntries } from '../../../src/generate/rbac/access-entries.ts';
import { rbacOf } from '../../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../../src/generate/watch-list.ts';
import { runHere } from '../operated-system.ts';

const eks = { server: 'https://host', access: { type: 'eks', cluster: 'prod-1', region: 'eu-central-1' } };
const secret = { access: { type: 'secret', secret: 'outrigger/prod/clusters/lab', holds: 'kubeconfig' } };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-access-'));
  for (const [name, answer] of [
    ['aws', 'case "$1" in lambda) echo "arn:aws:iam::000000000000:role/$6";; esac'],
    ['kubectl', ''],
  ]) {
    const file = path.join(folder, name ?? '');
    await writeFile(file, `#!/bin/sh\necho "${name} $*" >> "${folder}/calls"\n${answer}\n`);
    await chmod(file, 0o755);
  }
});
afterAll(async () => await rm(folder, { recursive: true }));

async function run(table: object, ...argv: readonly string[]) {
  const file = path.join(folder, 'clusters.json');
  await writeFile(file, JSON.stringify(table));
  return await runHere(clustersCommand(), ['access', '--stage', 'prod', '--table', file, ...argv]);
}

/** Has a shell run what was printed; returns how programs were called. */
async function inShell(script: string): Promise<readonly string[]> {
  await rm(path.join(folder, 'calls'), { force: true });
  await promisify(execFile)('/bin/sh', ['-euc', script], { env: { PATH: `${folder}:/usr/bin:/bin` } });
  return (await readFile(path.join(folder, 'calls'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
}

describe('clusters access', () => {
  it('prints an access entry for the role of each function that talks to clusters, in its own group', async () => {
    const { out, err, status } = await run({ prod: eks }, '--region', 'eu-west-1');
    expect(err).toBe('');
    expect(status).toBe(0);
    expect(out).toMatch(
      /^# prod: is the EKS cluster prod-1 in eu-central-1; its authentication mode must include API\.\n/,
    );
    const calls = await inShell(out);
    const entries = calls.filter((call) => call.startsWith('aws eks'));
    expect(entries).toHaveLength(registry.length + 1);
    expect(entries).toContain(
      'aws eks create-access-entry --region eu-central-1 --cluster-name prod-1 --kubernetes-groups outrigger:controller:foo --principal-arn arn:aws:iam::000000000000:role/outrigger-prod-foo',
    );
    expect(entries.join('\n')).toContain('--kubernetes-groups outrigger:resync --principal-arn');
    expect(calls.filter((call) => call.startsWith('aws lambda'))).toContain(
      'aws lambda get-function-configuration --region eu-west-1 --function-name outrigger-prod-resync --query Role --output text',
    );
  });

  it('names only groups and roles that the generated bindings know', () => {
    const objects = JSON.stringify(rbacOf(registry, watchListOf(registry)));
    for (const { group, clusterRole } of accessEntries(registry)) {
      const binding = `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"${clusterRole}"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"${group}"},{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"${group}"}]`;
      expect(objects).toContain(binding);
    }
  });

  it('says which groups an identity of all functions needs, and runs nothing', async () => {
    const { out, status } = await run({ lab: secret });
    expect(status).toBe(0);
    for (const { group } of accessEntries(registry)) expect(out).toContain(`#   ${group}\n`);
    expect(await inShell(out)).toEqual([]);
  });

  it('binds the user that all functions are, where it is named', async () => {
    const user = 'system:serviceaccount:outrigger-system:functions';
    const { out } = await run({ lab: secret }, '--user', user);
    const calls = await inShell(out);
    expect(calls).toContain(
      `kubectl create clusterrolebinding outrigger-foo-shared --clusterrole=outrigger-foo --user=${user}`,
    );
    // The watchers' cursor is in a namespace.
    expect(calls).toContain(
      `kubectl -n outrigger-system create rolebinding outrigger-resync-shared --role=outrigger-resync --user=${user}`,
    );
    expect(calls).toHaveLength(registry.length + 2);
  });

  it('has nothing to do for a cluster that is being left, or that asks for no credentials', async () => {
    const none = { server: 'http://127.0.0.1:1', access: { type: 'none' } };
    const { out } = await run({ old: { ...eks, leaving: true }, here: none });
    expect(await inShell(out)).toEqual([]);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
  });

  it('prints only the clusters that are named, as JSON too', async () => {
    const { out } = await run({ prod: eks, lab: secret }, 'prod', '--output', 'json');
    const plans = JSON.parse(out);
    expect(plans).toMatchObject([{ cluster: 'prod', access: 'eks' }]);
    expect(plans[0].steps).toContainEqual(
      expect.objectContaining({ function: 'resync', group: 'outrigger:resync', clusterRole: 'outrigger-resync' }),
    );
  });

  it('an entry that is not valid is one line that names it and the next step; the others are printed all the same', async () => {
    const { out, err, status } = await run({ bad: { access: { type: 'eks' } }, prod: eks });
    expect(err).toBe(
      'outrigger clusters access: cluster "bad": access.cluster, access.region missing, unknown or of the wrong type; mend its entry in the clusters table\n',
    );
    expect(out).toContain('# prod: ');
    expect(status).toBe(1);
  });
});

describe('a mistake is one line that says what to do, and exit status 1:', () => {
  it.each<[string, readonly string[], string]>([
    ['a cluster that is not there', ['nowhere'], 'cluster "nowhere": not in '],
    ['a stage that a shell would obey', ['--stage', 'a;b'], '--stage: letters, digits and - only'],
    ['a region that a shell would obey', ['--region', '$(x)'], '--region: one like eu-central-1'],
    ['a user that a shell would obey', ['--user', 'a b'], '--user: one name'],
  ])('%s', async (_, argv, said) => {
    const { out, err, status } = await run({ prod: eks }, ...argv);
    expect(err).toContain(`outrigger clusters access: ${said}`);
    expect(err.trimEnd()).not.toContain('\n');
    expect(out).toBe('');
    expect(status).toBe(1);
  });

  it('no table', async () => {
    const { err, status } = await runHere(clustersCommand(), [
      'access',
      '--stage',
      'prod',
      '--table',
      '/nowhere/clusters.json',
    ]);
    expect(err).toBe(
      'outrigger clusters access: clusters table /nowhere/clusters.json: cannot be read; check the path\n',
    );
    expect(status).toBe(1);
  });

  it('an empty table', async () => {
    const { err, status } = await run({});
    expect(err).toContain('put one there, or name another --stage or --table');
    expect(status).toBe(1);
  });
});
