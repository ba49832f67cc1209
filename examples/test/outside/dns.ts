// A zone with two doors: an HTTP API of records with owners, and Route 53 as far as a controller calls it.
import type { OutsideWorld } from 'outrigger/testing';
import * as z from 'zod';
import { serve } from './server.ts';

const targetsShape = z.object({ targets: z.array(z.string()) });

export async function startHttpDns(): Promise<OutsideWorld> {
  const records = new Map<string, { readonly owner: string; readonly targets: readonly string[] }>();
  const { url, close } = await serve(({ method, url, body }) => {
    const [, , host = ''] = url.pathname.split('/');
    const owner = url.searchParams.get('owner') ?? '';
    const before = records.get(host);
    if (before !== undefined && before.owner !== owner) return { status: 409 };
    if (method === 'DELETE') return { status: records.delete(host) ? 200 : 404 };
    records.set(host, { owner, ...targetsShape.parse(JSON.parse(body)) });
    return {};
  });
  const state = () => Object.fromEntries([...records].map(([host, { targets }]) => [host, targets]));
  return { environment: { DNS_URL: url }, state, close };
}

type RecordSet = {
  readonly name: string;
  readonly type: string;
  readonly xml: string;
  readonly values: readonly string[];
};

export async function startRoute53(): Promise<OutsideWorld> {
  const sets = new Map<string, RecordSet>();
  const keyOf = ({ name, type }: RecordSet) => `${name} ${type}`;
  const { url, close } = await serve(({ method, url, body }) => {
    if (method === 'GET') {
      const from = listedName(url.searchParams.get('name') ?? '');
      const listed = [...sets.values()].filter(({ name }) => name === from).map(({ xml }) => xml);
      return {
        body: document('ListResourceRecordSets', `<ResourceRecordSets>${listed.join('')}</ResourceRecordSets>`),
      };
    }
    const changes = [...body.matchAll(/<Change>(.*?)<\/Change>/gs)].map(([, change = '']) => change);
    const parsed = changes.map((change) => ({ action: textOf(change, 'Action'), set: recordSetOf(change) }));
    const isRefused = ({ action, set }: (typeof parsed)[number]) =>
      action === 'CREATE' ? sets.has(keyOf(set)) : action === 'DELETE' && sets.get(keyOf(set))?.xml !== set.xml;
    // All of a batch, or nothing.
    if (parsed.some(isRefused))
      return { status: 400, body: '<ErrorResponse><Error><Code>InvalidChangeBatch</Code></Error></ErrorResponse>' };
    for (const { action, set } of parsed) {
      if (action === 'DELETE') sets.delete(keyOf(set));
      else sets.set(keyOf(set), set);
    }
    return {
      body: document('ChangeResourceRecordSets', '<ChangeInfo><Id>C1</Id><Status>INSYNC</Status></ChangeInfo>'),
    };
  });
  const state = () =>
    Object.fromEntries(
      [...sets.values()].filter(({ type }) => type !== 'TXT').map(({ name, values }) => [name, values]),
    );
  return { environment: { ZONE_ID: 'Z1', ROUTE53_ENDPOINT: url }, state, close };
}

function document(operation: string, content: string): string {
  return `<${operation}Response>${content}<IsTruncated>false</IsTruncated><MaxItems>10</MaxItems></${operation}Response>`;
}

function textOf(xml: string, element: string): string {
  return new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(xml)?.[1] ?? '';
}

/** Route 53 lists names in lower case, with a dot at their end and `*` as its octal code, and takes others. */
const listedName = (given: string) => `${given.replace(/\.$/, '').toLowerCase().replace('*', '\\052')}.`;

function recordSetOf(change: string): RecordSet {
  const [name, type] = [listedName(textOf(change, 'Name')), textOf(change, 'Type')];
  const values = [...change.matchAll(/<Value>(.*?)<\/Value>/gs)].map(([, value = '']) => value);
  const records = values.map((value) => `<ResourceRecord><Value>${value}</Value></ResourceRecord>`).join('');
  const content = `<Name>${name}</Name><Type>${type}</Type><TTL>60</TTL><ResourceRecords>${records}</ResourceRecords>`;
  return { name, type, values, xml: `<ResourceRecordSet>${content}</ResourceRecordSet>` };
}
