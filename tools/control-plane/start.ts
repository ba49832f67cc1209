// Starts a real Kubernetes control plane for a test: etcd and kube-apiserver, and kube-controller-manager for garbage
// collection and workloads. It is ready in two to four seconds, on a free port, in a temporary folder that is removed
// at its end.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './arguments.ts';
import { type ControlPlaneBinaries, controlPlaneBinaries } from './build.ts';
import { callEtcd } from './call-etcd.ts';
import { type ChildProcesses, createChildProcesses, lastLines, type Program } from './child-processes.ts';
import { compactEtcd } from './compact-etcd.ts';
import type { AuditEvent, ControlPlane, ControlPlaneOptions } from './control-plane.ts';
import { putCopies } from './etcd-copies.ts';
import { writeKubeconfig } from './kubeconfig.ts';

const admin = 'admin';
// A user of its own, so that an audit log distinguishes its requests from a test's.
const controllerManager = 'system:kube-controller-manager';
const readyWithinSeconds = 180;
const pollMilliseconds = 50;
// Two attempts: another process may have taken the free port meanwhile.
const startAttempts = 2;

/** Starts a control plane and resolves when /readyz succeeds. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await controlPlaneBinaries();
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(tmpdir(), 'outrigger-plane-'));
    const children = createChildProcesses(folder);
    try {
      return await start(binaries, children, folder, options);
    } catch (error) {
      await children.close();
      if (attempt === startAttempts || !String(error).includes('address already in use')) throw error;
    }
  }
}

async function start(
  binaries: ControlPlaneBinaries,
  children: ChildProcesses,
  folder: string,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const users = new Map<string, string>([
    [admin, randomUUID()],
    [controllerManager, randomUUID()],
  ]);
  for (const { name, token } of options.users ?? []) users.set(name, token ?? randomUUID());
  await writeInputs(folder, users, options);
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const startEtcd = () => children.start('etcd', binaries.etcd, etcdArguments(folder, options));
  let etcd = startEtcd();

  let apiServer: Program;
  const startApiServer = async (): Promise<string> => {
    apiServer = children.start('kube-apiserver', binaries.apiServer, apiServerArguments(folder, port, options));
    return untilReady(apiServer, url, join(folder, 'certificates', 'apiserver.crt'));
  };
  const ca = await startApiServer();

  const tokenOf = (user: string): string => {
    const token = users.get(user);
    if (token === undefined) throw new Error(`the control plane has no user ${user}`);
    return token;
  };
  const kubeconfig = (user = admin): string => {
    tokenOf(user);
    return join(folder, `kubeconfig-${encodeURIComponent(user)}`);
  };
  const restartApiServer = async (): Promise<void> => {
    await apiServer.stop('SIGKILL');
    await startApiServer();
  };
  const whileStopped = async (action: () => Promise<void>): Promise<void> => {
    await apiServer.stop('SIGKILL');
    await etcd.stop();
    await action();
    etcd = startEtcd();
    await startApiServer();
  };
  for (const [user, token] of users) await writeKubeconfig(kubeconfig(user), url, { ca, user, token });
  if (options.controllerManager) {
    const args = controllerManagerArguments(folder, kubeconfig(controllerManager), options);
    children.start('kube-controller-manager', binaries.controllerManager, args);
  }
  return {
    url,
    ca,
    adminToken: tokenOf(admin),
    kubectlPath: binaries.kubectl,
    kubeconfig,
    connection: (user = admin) => ({ server: new URL(url), ca, token: async () => tokenOf(user) }),
    auditEvents: () => readAuditLog(join(folder, 'audit.log')),
    stop: () => children.close(),
    kill9ApiServer: () => apiServer.stop('SIGKILL'),
    restartApiServer,
    compact: () => compactEtcd(join(folder, 'etcd.sock')),
    putCopies: (key, copies, options) => putCopies(join(folder, 'etcd.sock'), key, copies, options),
    backUp: () => whileStopped(() => copyFolder(join(folder, 'backup'), join(folder, 'etcd'))),
    restore: () => whileStopped(() => copyFolder(join(folder, 'etcd'), join(folder, 'backup'))),
    renewIdentity: async () => {
      const key = Buffer.from('/registry/namespaces/kube-system').toString('base64');
      await callEtcd(join(folder, 'etcd.sock'), '/v3/kv/deleterange', { key });
      // It creates its namespaces again at its start.
      await restartApiServer();
    },
    pids: () => ({ apiServer: apiServer.pid, etcd: etcd.pid }),
    pauseApiServer: () => apiServer.signal('SIGSTOP'),
    resumeApiServer: () => apiServer.signal('SIGCONT'),
  };
}

async function copyFolder(target: string, source: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await cp(source, target, { recursive: true });
}

async function writeInputs(
  folder: string,
  users: ReadonlyMap<string, string>,
  options: ControlPlaneOptions,
): Promise<void> {
  const serviceAccounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(join(folder, 'sa.key'), serviceAccounts.privateKey.export({ type: 'sec1', format: 'pem' }));
  await writeFile(join(folder, 'sa.pub'), serviceAccounts.publicKey.export({ type: 'spki', format: 'pem' }));
  const groups = new Map<string, readonly string[]>([
    [admin, ['system:masters']],
    [controllerManager, ['system:masters']],
  ]);
  for (const user of options.users ?? []) groups.set(user.name, user.groups ?? []);
  const line = ([user, token]: [string, string]): string =>
    `${token},${user},${user},"${(groups.get(user) ?? []).join(',')}"`;
  await writeFile(join(folder, 'tokens.csv'), `${[...users].map(line).join('\n')}\n`, { mode: 0o600 });
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Request' }],
  };
  await writeFile(join(folder, 'audit-policy.yaml'), JSON.stringify(policy));
}

/** Waits until the server is ready and returns its self-signed certificate. */
async function untilReady(apiServer: Program, url: string, certificate: string): Promise<string> {
  const deadline = Date.now() + readyWithinSeconds * 1000;
  while (Date.now() < deadline && apiServer.ended() === undefined) {
    const ca = await readFile(certificate, 'utf8').catch(() => undefined);
    if (ca !== undefined && (await isReady(url, ca))) return ca;
    await wait(pollMilliseconds);
  }
  const reason = apiServer.ended() ?? `not ready within ${readyWithinSeconds} s`;
  throw new Error(`kube-apiserver: ${reason}\n${await lastLines(apiServer.log)}`);
}

function isReady(url: string, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request(`${url}/readyz`, { ca, agent: false, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(false));
    probe.end();
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

async function readAuditLog(path: string): Promise<AuditEvent[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line): AuditEvent => JSON.parse(line));
}
