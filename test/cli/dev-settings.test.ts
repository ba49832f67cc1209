// The settings of controllers for `outrigger dev`: their sources, and what is missing or wrong. That functions have them
// is test/journey.

import { readDevSettings } from '@outrigger/cli/commands/dev-settings';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { secret } from '../../src/api/secret.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { UserError } from '../../src/core/errors.ts';
import { useFolder } from '../support/folder.ts';

const record = defineKind({
  group: 'dns.example.com',
  version: 'v1',
  kind: 'DnsRecord',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const dns: ControllerDefinition = record.controller('dns-record', {
  settings: z.object({ DNS_URL: z.url(), DNS_TOKEN: secret().optional(), DNS_ZONE: z.string().default('example.com') }),
  reconcile: async () => ({ status: {}, conditions: {} }),
});

const folder = useFolder();
const read = async (
  { set = [], environment = {} }: { readonly set?: readonly string[]; readonly environment?: Record<string, string> },
  registry: readonly ControllerDefinition[] = [dns],
) => await readDevSettings(registry, { set, environment, root: folder.path });

it('a setting is read from --set, then from the environment, then from .env', async () => {
  await folder.write('.env', 'DNS_URL="https://file.test"\nDNS_ZONE=file.test\nOTHER=ignored\n');
  expect(await read({})).toEqual({ DnsUrl: 'https://file.test', DnsZone: 'file.test' });
  const environment = { DNS_URL: 'https://environment.test', DNS_ZONE: '', HOME: '/home' };
  expect(await read({ environment })).toEqual({ DnsUrl: 'https://environment.test' });
  expect(await read({ environment, set: ['DNS_URL=https://set.test?a=b'] })).toEqual({
    DnsUrl: 'https://set.test?a=b',
  });
});

it('a secret is a file, whose path is relative to the project', async () => {
  await folder.write('token', 'secret');
  const set = ['DNS_URL=https://set.test', 'DNS_TOKEN=file:token'];
  expect(await read({ set })).toEqual({ DnsUrl: 'https://set.test', DnsToken: `file:${folder.at('token')}` });
});

it('a setting of a simulated system needs no value, and can have one', async () => {
  expect(await read({}, [waterTank])).toEqual({});
  expect(await read({ environment: { PLANT_URL: 'http://plant.test' } }, [waterTank])).toEqual({
    PlantUrl: 'http://plant.test',
  });
});

it.each<[string, readonly string[], string]>([
  ['a required setting that is missing', [], 'controller dns-record needs DNS_URL'],
  ['a setting with an invalid value', ['DNS_URL=no url'], 'controller dns-record needs DNS_URL: Invalid URL'],
  ['a setting that no controller has', ['DNS_URI=x'], '--set DNS_URI: no controller has this setting; there are'],
  ['a --set without a value', ['DNS_URL'], '--set DNS_URL: write it as NAME=value'],
  [
    'a secret that is no file',
    ['DNS_URL=http://a.test', 'DNS_TOKEN=t0ken'],
    'dns-record: DNS_TOKEN is a secret: write its value to a file, and give DNS_TOKEN=file:PATH',
  ],
  ['a secret whose file does not exist', ['DNS_URL=http://a.test', 'DNS_TOKEN=file:nowhere'], 'DNS_TOKEN: '],
])('%s is an error that names it', async (_, set, expected) => {
  const error: unknown = await read({ set }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UserError);
  expect(String(error)).toContain(expected);
});

it('secret files that do not exist are one error that names all of them', async () => {
  const other = { ...dns, name: 'other' };
  const set = ['DNS_URL=http://a.test', 'DNS_TOKEN=file:nowhere', 'OTHER_TOKEN=file:nowhere-else'];
  const settings = z.object({ OTHER_TOKEN: secret(), DNS_TOKEN: secret() });
  const registry = [dns, { ...other, declaration: { ...dns.declaration, settings } }];
  await expect(read({ set }, registry)).rejects.toThrow(
    `controller dns-record: DNS_TOKEN: ${folder.at('nowhere')} cannot be read (ENOENT); ` +
      `controller other: OTHER_TOKEN: ${folder.at('nowhere-else')} cannot be read (ENOENT)`,
  );
});
