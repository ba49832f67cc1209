// Only the example of docs/write/a-controller.md, and the tables of members.md: the document contains the compiled file, and its reconcile does what it says.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { Allows } from '../../src/api/allows.ts';
import type { AnySpec } from '../../src/api/controller-spec.ts';
import type { OptionsSpec } from '../../src/core/controller-options.ts';
import { Deployment, Ingress } from '../../src/kubernetes.ts';
import { testContext } from '../../src/testing.ts';
import { Site, site } from './authoring-example.ts';

const root = path.resolve(import.meta.dirname, '../..');

it('docs/write/a-controller.md contains the example as it is compiled', async () => {
  const example = await readFile(path.join(import.meta.dirname, 'authoring-example.ts'), 'utf8');
  const [, code] = example.split(/(?=^import \* as z)/m);
  expect(await readFile(path.join(root, 'docs/write/a-controller.md'), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
});

it('the table of the context has each member, with the first sentence that the API reference has of it', async () => {
  const source = await readFile(path.join(root, 'src/api/context.ts'), 'utf8');
  const declared = [...source.matchAll(/^(?:type BaseContext|export interface Context<).*?^\}/gms)].join('');
  const members = declared.matchAll(/\/\*\*((?:(?!\*\/).)*)\*\/\s+(?:readonly )?(\w+)[(<:]/gs);
  const sentences = [...members].map(([, comment = '', name]) => {
    const [sentence] = /^.*?\.(?= |$)/.exec(comment.replaceAll(/\s+\*? */g, ' ').trim()) ?? [];
    return [name, sentence] as const;
  });
  const page = await readFile(path.join(root, 'docs/write/members.md'), 'utf8');
  const [, table = ''] = /^## The context$(.*?)^- /ms.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `(?:metrics\.)?(\w+)[^`]*` \| (.*) \|$/gm)].map(([, name, text = '']) => {
    const withoutGuide = text.replace(/: \[[^\]]*\]\([^)]*\)\.$/, '.');
    return [name, withoutGuide] as const;
  });
  expect(rows.length).toBeGreaterThan(10);
  expect(new Map(rows)).toEqual(new Map(sentences.filter(([name]) => name !== 'metrics')));
});

it('every member of a controller, and every privilege that it can allow, is in its table', async () => {
  const text = await readFile(path.join(root, 'docs/write/members.md'), 'utf8');
  const [, table = ''] = /^## A controller$(.*?)^## The context$/ms.exec(text) ?? [];
  // The compiler finds one that is missing here.
  const members = {
    owns: true,
    reads: true,
    watches: true,
    wakes: true,
    selector: true,
    changes: true,
    evidence: true,
    finalizer: true,
    sets: true,
    allows: true,
    exec: true,
    settings: true,
    clients: true,
    permissions: true,
    deletesSelf: true,
    reconcile: true,
    finalize: true,
  } satisfies Record<Exclude<keyof AnySpec, keyof OptionsSpec>, true>;
  const privileges = {
    serviceAccountName: true,
    automountServiceAccountToken: true,
    secrets: true,
    hostNamespaces: true,
    hostPorts: true,
    privileged: true,
    nodeName: true,
    priorityClassName: true,
    externalIPs: true,
    volumes: true,
    serviceTypes: true,
    clusterRoles: true,
    grants: true,
    adoption: true,
  } satisfies Record<keyof Allows, true>;
  for (const privilege of Object.keys(privileges)) expect(table).toMatch(new RegExp(`\`${privilege}\\b`));
  for (const member of Object.keys(members)) expect(table, member).toMatch(new RegExp(`^\\|[^|]*\`${member}\``, 'm'));
});

const clients = {
  register: async (_uid: string, host: string) => `record of ${host}`,
  remove: async () => true,
};
afterEach(() => vi.unstubAllGlobals());

it('the example has a Deployment and an Ingress, and is finalized when its record is gone', async () => {
  const north = Site.object('north', {
    host: 'north.example.com',
    replicas: 2,
  });
  const context = testContext(site, { owner: north, clients });
  const { status, conditions } = await site.reconcile(north, context);
  expect(status).toEqual({
    record: 'record of north.example.com',
    replicas: 2,
  });
  expect(conditions.Recorded.status).toBe('True');
  expect((await context.get(Deployment, { name: 'north' }))?.spec?.replicas).toBe(2);
  expect((await context.get(Ingress, { name: 'north' }))?.spec?.rules?.[0]?.host).toBe('north.example.com');
  expect(await site.finalize?.(north, context)).toBe('done');
});
