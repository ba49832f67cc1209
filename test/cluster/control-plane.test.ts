// The control plane of the cluster tests: users, audit log, crashes and pauses, and the cleanup at the end of a test.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createWire, type Wire } from '../conformance/wire.ts';
import '../../tools/control-plane/global-setup.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';

const plane = await startControlPlane({
  auditLog: true,
  users: [{ name: 'system:viewer', groups: ['viewers'] }, { name: 'unprivileged' }],
  enableAdmission: ['OwnerReferencesPermissionEnforcement'],
});
afterAll(() => plane.stop());

async function wireOf(user?: string): Promise<Wire> {
  const { server, ca, token } = plane.connection(user);
  return createWire({ url: server.origin, ca, token: await token() });
}

/** Returns whether the path exists, or any process has it on its command line. */
async function isLeft(folder: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'], { maxBuffer: 16 * 1024 * 1024 });
  const exists = access(folder).then(
    () => true,
    () => false,
  );
  return stdout.includes(folder) || (await exists);
}

describe('users of the control plane', () => {
  it('a user has exactly the permissions that RBAC grants to it or its groups', async () => {
    const admin = await wireOf();
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const apiGroup = 'rbac.authorization.k8s.io';
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    await admin.post(`${rbac}/clusterroles`, { metadata: { name: 'viewers' }, rules });
    await admin.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'viewers' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'viewers' },
      subjects: [{ apiGroup, kind: 'Group', name: 'viewers' }],
    });
    const [viewer, unprivileged] = [await wireOf('system:viewer'), await wireOf('unprivileged')];
    await expect.poll(async () => (await viewer.get('/api/v1/configmaps')).status).toBe(200);
    expect((await viewer.get('/api/v1/secrets')).status).toBe(403);
    expect((await unprivileged.get('/api/v1/configmaps')).status).toBe(403);
    await expect(plane.connection('stranger').token()).rejects.toThrow('stranger');
  });

  it('the audit log has the user and the object of each request', async () => {
    const viewer = await wireOf('system:viewer');
    await viewer.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'not-allowed' } });
    // The log is written after the response, so the test has to wait for the line.
    await expect
      .poll(() => plane.auditEvents())
      .toContainEqual(
        expect.objectContaining({
          verb: 'create',
          user: expect.objectContaining({ username: 'system:viewer' }),
          objectRef: expect.objectContaining({ resource: 'configmaps', namespace: 'default' }),
          responseStatus: expect.objectContaining({ code: 403 }),
        }),
      );
    const admin = await wireOf();
    await admin.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'allowed' } });
    await expect
      .poll(() => plane.auditEvents())
      .toContainEqual(
        expect.objectContaining({
          user: expect.objectContaining({ username: 'admin' }),
          objectRef: expect.objectContaining({ resource: 'configmaps' }),
          requestObject: expect.objectContaining({ metadata: expect.objectContaining({ name: 'allowed' }) }),
        }),
      );
  });
});

describe('interruptions of the control plane', () => {
  it('a restarted API server has the same address, certificate and data', async () => {
    const admin = await wireOf();
    const made = await admin.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' } });
    await plane.kill9ApiServer();
    await expect(admin.get('/readyz')).rejects.toThrow('ECONNREFUSED');
    await plane.restartApiServer();
    expect((await admin.get('/api/v1/namespaces/default/configmaps/kept')).body).toEqual(made.body);
  });

  it('a paused API server does not respond until it is resumed', async () => {
    const admin = await wireOf();
    plane.pauseApiServer();
    let hasResponse = false;
    const response = admin.get('/readyz').then(() => {
      hasResponse = true;
    });
    const other = inject('controlPlane');
    const running = createWire({ url: other.url, ca: other.ca, token: other.adminToken });
    for (let requests = 0; requests < 10; requests++) expect((await running.get('/readyz')).status).toBe(200);
    expect(hasResponse).toBe(false);
    plane.resumeApiServer();
    await response;
  });
});

describe('cleanup of the control plane', () => {
  // The guard sees only that its pipe is closed, which is the same when the process exits or throws.
  it('a control plane leaves neither processes nor files when the process that started it is killed', async () => {
    const program = `
      import { startControlPlane } from ${JSON.stringify(import.meta.resolve('../../tools/control-plane/start.ts'))};
      const plane = await startControlPlane({ controllerManager: true });
      console.log(plane.kubeconfig());
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program]);
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const folder = dirname(output.trim());
    expect(folder).toContain('outrigger-plane-');
    await expect.poll(() => isLeft(folder), { timeout: 10_000, interval: 100 }).toBe(false);
  });

  it('a control plane leaves neither processes nor files after stop', async () => {
    const other = await startControlPlane();
    const folder = dirname(other.kubeconfig());
    expect(await isLeft(folder)).toBe(true);
    await other.stop();
    expect(await isLeft(folder)).toBe(false);
  });
});
