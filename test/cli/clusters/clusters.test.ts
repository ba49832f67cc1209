// `outrigger clusters access` as a person runs it: its output for each kind of access, and the calls that a shell makes
// with it. Fakes of aws and kubectl record their arguments.
import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { promisify } from 'node:util';
import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { registry } from '../../../src/controllers/registry.ts';
import { accessEntries } from '../../../src/generate/rbac/access-entries.ts';
import { rbacOf } from '../../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../../src/generate/watch-list.ts';
import { useFolder } from '../../support/folder.ts';
import { startAwsServices } from '../aws-services.ts';
import { expectUserError, runHere } from '../command-result.ts';

const eks = { server: 'https://host', access: { type: 'eks', cluster: 'prod-1', region: 'eu-central-1' } };
const secret = { access: { type: 'secret', secret: 'outrigger/prod/clusters/lab', holds: 'kubeconfig' } };

const folder = useFolder({ shared: true });
beforeAll(async () => {
  const programs = {
    aws: 'case "$1" in lambda) echo "arn:aws:iam::000000000000:role/$6";; iam) echo "arn:aws:iam::000000000000:role/$4";; esac',
    kubectl: '',
  };
  for (const [name, answer] of Object.entries(programs)) {
    await folder.write(name, `#!/bin/sh\necho "${name} $*" >> "${folder.at('calls')}"\n${answer}\n`);
    await chmod(folder.at(name), 0o755);
  }
});

const runAccess = async (...argv: readonly string[]) =>
  await runHere(clustersCommand(), ['access', '--stage', 'prod', ...argv]);
async function run(table: object, ...argv: readonly string[]) {
  await folder.write('clusters.json', JSON.stringify(table));
  return await runAccess('--table', folder.at('clusters.json'), ...argv);
}

/** Runs the printed commands in a shell, and returns the calls of aws and kubectl. */
async function inShell(script: string): Promise<readonly string[]> {
  await folder.write('calls', '');
  await promisify(execFile)('/bin/sh', ['-euc', script], { env: { PATH: `${folder.path}:/usr/bin:/bin` } });
  return (await folder.read('calls')).split('\n').filter((line) => line !== '');
}

it('a command with --stage uses the table of the stage, although CLUSTERS names another one', async () => {
  const parameters = { '/outrigger/dev/clusters/of-the-stage': JSON.stringify(eks) };
  const services = await startAwsServices({ mappings: [], unreserved: 1, parameters });
  onTestFinished(() => void services.close());
  await folder.write('other.json', JSON.stringify({ other: eks }));
  const { out } = await runHere(clustersCommand(), ['list', '--stage', 'dev'], {
    CLUSTERS: folder.at('other.json'),
    AWS_ENDPOINT_URL: services.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  expect(out).toContain('of-the-stage');
  expect(out).not.toContain('other');
});

it('clusters access prints an access entry for the role of each function that uses clusters, in its own group', async () => {
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

it('clusters access --revoke takes away what the functions of a region and a shared user have, without asking that region', async () => {
  const calls = await inShell((await run({ prod: eks }, '--region', 'eu-west-1', '--revoke')).out);
  expect(calls.filter((call) => call.startsWith('aws eks'))).toHaveLength(registry.length + 1);
  expect(calls).toContain(
    'aws eks delete-access-entry --region eu-central-1 --cluster-name prod-1 --principal-arn arn:aws:iam::000000000000:role/outrigger-prod-foo-eu-west-1',
  );
  expect(calls.filter((call) => call.includes('--region eu-west-1'))).toEqual([]);
  const shared = await inShell((await run({ lab: secret }, '--region', 'eu-west-1', '--user', 'me', '--revoke')).out);
  expect(shared).toEqual(
    expect.arrayContaining([
      'kubectl delete clusterrolebinding outrigger-foo-me --ignore-not-found',
      'kubectl -n outrigger-system delete rolebinding outrigger-resync-me --ignore-not-found',
    ]),
  );
  const leaving = await run({ old: { ...eks, decommissioning: true } }, '--region', 'eu-west-1', '--revoke');
  expect(leaving.out.match(/delete-access-entry/g)).toHaveLength(registry.length + 1);
  const open = await run({ lab: secret }, '--region', 'eu-west-1', '--revoke');
  expect(open).toMatchObject({ status: 1, err: expect.stringContaining('cluster "lab": not fenced; give --user') });
  expectUserError(await run({ prod: eks }, '--revoke'), '--revoke: give the --region of the functions');
});

it('clusters access names only groups and roles of the generated bindings', () => {
  const objects = JSON.stringify(rbacOf(registry, watchListOf(registry)));
  for (const { group, clusterRole } of accessEntries(registry)) {
    const binding = `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"${clusterRole}"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"${group}"},{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"${group}"}]`;
    expect(objects).toContain(binding);
  }
});

it('clusters access --fleet-watcher gives the role of a fleet watcher the group of the watcher', async () => {
  const role = 'arn:aws:iam::000000000000:role/outrigger-prod-watcher';
  const calls = await inShell((await run({ prod: eks }, '--fleet-watcher', role)).out);
  expect(calls).toContain(
    `aws eks create-access-entry --region eu-central-1 --cluster-name prod-1 --kubernetes-groups outrigger:watcher --principal-arn ${role}`,
  );
  expect((await run({ prod: eks }, '--fleet-watcher', 'role; rm -rf /')).status).toBe(1);
});

it('clusters access --fleet-watcher --user binds the shared user to the watcher’s roles', async () => {
  const calls = await inShell((await run({ lab: secret }, '--user', 'shared', '--fleet-watcher')).out);
  expect(calls).toEqual(
    expect.arrayContaining([
      'kubectl create clusterrolebinding outrigger-watcher-shared --clusterrole=outrigger-watcher --user=shared',
      'kubectl -n outrigger-system create rolebinding outrigger-watcher-shared --role=outrigger-watcher --user=shared',
    ]),
  );
});

it('clusters access lists the groups that a shared identity needs, and prints no command', async () => {
  const { out, status } = await run({ lab: secret });
  expect(status).toBe(0);
  for (const { group } of accessEntries(registry)) expect(out).toContain(`#   ${group}\n`);
  expect(await inShell(out)).toEqual([]);
});

it('clusters access --user prints bindings for the shared user of all functions', async () => {
  const user = 'system:serviceaccount:outrigger-system:functions';
  const { out } = await run({ lab: secret }, '--user', user);
  const calls = await inShell(out);
  expect(calls).toContain(
    `kubectl create clusterrolebinding outrigger-foo-${user} --clusterrole=outrigger-foo --user=${user}`,
  );
  // The watch checkpoint is in a namespace.
  expect(calls).toContain(
    `kubectl -n outrigger-system create rolebinding outrigger-resync-${user} --role=outrigger-resync --user=${user}`,
  );
  expect(calls).toHaveLength(registry.length + 2);
});

it('clusters access prints no command for a cluster that is being decommissioned, or that needs no credentials', async () => {
  const none = { server: 'http://127.0.0.1:1', access: { type: 'none' } };
  const { out } = await run({ old: { ...eks, decommissioning: true }, here: none });
  expect(await inShell(out)).toEqual([]);
  expect(out.trimEnd().split('\n')).toHaveLength(2);
});

it('clusters access prints only the named clusters, also as JSON', async () => {
  const { out } = await run({ prod: eks, lab: secret }, 'prod', '--output', 'json');
  const plans = JSON.parse(out);
  expect(plans).toMatchObject([{ cluster: 'prod', access: 'eks' }]);
  expect(plans[0].steps).toContainEqual(
    expect.objectContaining({ function: 'resync', group: 'outrigger:resync', clusterRole: 'outrigger-resync' }),
  );
});

it('clusters access prints one line for an invalid entry, and the commands for the others', async () => {
  const result = await run({ bad: { access: { type: 'eks' } }, prod: eks });
  const problem = 'access.cluster, access.region missing, unknown or of the wrong type; fix its entry in the clusters';
  expectUserError(result, `outrigger clusters access: cluster "bad": ${problem}`);
  expect(result.out).toContain('# prod: ');
});

it.each<[string, readonly string[], string]>([
  ['an unknown cluster', ['nowhere'], 'cluster "nowhere": not in '],
  ['a stage with shell syntax', ['--stage', 'a;b'], '--stage: letters, digits and - only'],
  ['a region with shell syntax', ['--region', '$(x)'], '--region: one like eu-central-1'],
  ['a user with a space', ['--user', 'a b'], '--user: one name'],
])('clusters access of %s prints one line with the next step, and exits with 1', async (_, argv, message) => {
  const result = await run({ prod: eks }, ...argv);
  expectUserError(result, `outrigger clusters access: ${message}`);
  expect(result.err.trimEnd()).not.toContain('\n');
  expect(result.out).toBe('');
});

it('clusters access without a table prints one line with the path, and exits with 1', async () => {
  const result = await runAccess('--table', '/nowhere/clusters.json');
  expectUserError(result, 'clusters table /nowhere/clusters.json: cannot be read; check the path');
});

it('clusters access of an empty table prints the next step, and exits with 1', async () => {
  expectUserError(await run({}), 'put one there, or name another --stage or --table');
});
