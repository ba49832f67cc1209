// Starts a real Kubernetes control plane for a test: etcd and kube-apiserver, with kube-controller-manager where garbage
// collection and workloads matter. Ready in two to four seconds, on a free port, in a temporary folder that goes with it.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './arguments.ts';
import { type ControlPlaneBinaries, controlPlaneBinaries } from '../../test/control-plane/build.ts';
import { type ChildProcesses, createChildProcesses, lastLines, type Program } from './child-processes.ts';
import { compactEtcd } from './compact-etcd.ts';
import type { AuditEvent, ControlPlane, ControlPlaneOptions } from './control-plane.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { stampEtcd } from '../../test/control-plane/stamp-etcd.ts';

const ADMIN = 'admin';
// A user of its own, so that an audit log tells its requests from a test's.
const CONTROLLER_MANAGER = 'system:kube-controller-manager';
const READY_WITHIN_SECONDS = 180;
const POLL_MILLISECONDS = 50;
// Two attempts: the free port was free when we asked, and somebody else may have taken it since.
const START_ATTEMPTS = 2;

/** Starts a control plane and resolves when it answers on /readyz. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await controlPlaneBinaries();
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(tmpdir(), 'outrigger-plane-'));
    const children = createChildProcesses(folder);
    try {
      return await start(binaries, children, folder, options);
    } catch (error) {
      await children.close();
      if (attempt === START_ATTEMPTS || !String(error).includes('address already in use')) throw error;
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
    [ADMIN, randomUUID()],
    [CONTROLLER_MANAGER, randomUUID()],
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
    if (token === undefined) throw new Error(`The control plane was started without a user ${user}`);
    return token;
  };
  const kubeconfig = (user = ADMIN): string => {
    tokenOf(user);
    return join(folder, `kubeconfig-${encodeURIComponent(user)}`);
  };
  const whileDown = async (act: () => Promise<void>): Promise<void> => {
    await apiServer.stop('SIGKILL');
    await etcd.stop();
    await act();
    etcd = startEtcd();
    await startApiServer();
  };
  for (const [user, token] of users) await writeKubeconfig(kubeconfig(user), { url, ca, user, token });
  if (options.controllerManager) {
    const args = controllerManagerArguments(folder, kubeconfig(CONTROLLER_MANAGER), options);
    children.start('kube-controller-manager', binaries.controllerManager, args);
  }
  return {
    url,
    ca,
    adminToken: tokenOf(ADMIN),
    kubectlPath: binaries.kubectl,
    kubeconfig,
    connection: (user = ADMIN) => ({ server: new URL(url), ca, token: async () => tokenOf(user) }),
    auditEvents: () => readAuditLog(join(folder, 'audit.log')),
    stop: () => children.close(),
    kill9ApiServer: () => apiServer.stop('SIGKILL'),
    async restartApiServer() {
      await apiServer.stop('SIGKILL');
      await startApiServer();
    },
    compact: () => compactEtcd(join(folder, 'etcd.sock')),
    stamp: (key, copies, stamping) => stampEtcd(join(folder, 'etcd.sock'), key, copies, stamping),
    backUp: () => whileDown(() => replace(join(folder, 'backup'), join(folder, 'etcd'))),
    restore: () => whileDown(() => replace(join(folder, 'etcd'), join(folder, 'backup'))),
    pauseApiServer: () => apiServer.signal('SIGSTOP'),
    resumeApiServer: () => apiServer.signal('SIGCONT'),
  };
}

async function replace(target: string, source: string): Promise<void> {
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
    [ADMIN, ['system:masters']],
    [CONTROLLER_MANAGER, ['system:masters']],
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

/** Waits until the server is ready and returns the certificate it made for itself, which is its own authority. */
async function untilReady(apiServer: Program, url: string, certificate: string): Promise<string> {
  const deadline = Date.now() + READY_WITHIN_SECONDS * 1000;
  while (Date.now() < deadline && apiServer.ended() === undefined) {
    const ca = await readFile(certificate, 'utf8').catch(() => undefined);
    if (ca !== undefined && (await isReady(url, ca))) return ca;
    await wait(POLL_MILLISECONDS);
  }
  const ending = apiServer.ended() ?? `not ready within ${READY_WITHIN_SECONDS} s`;
  throw new Error(`kube-apiserver: ${ending}\n${await lastLines(apiServer.log)}`);
}

function isReady(url: string, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(`${url}/readyz`, { ca, agent: false, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
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
