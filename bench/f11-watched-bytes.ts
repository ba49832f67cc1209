// f11: the bytes that an API server sends for a watched object, its metadata compared with the whole object, in an
// uncompressed watch event. Also those of a page of a list, compressed and not. Real kube-apiserver; objects as a
// server-side apply leaves them, so that no annotation repeats the spec.

import type { OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { listPageSize } from '../src/kube/client/read.ts';
import { createPlainApi, type PlainApi } from '../tools/chaos/plain-api.ts';
import type { ControlPlane } from '../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../tools/control-plane/start.ts';
import { create, untilServed } from './populate.ts';
import type { Row } from './row.ts';

const group = 'bench.example.com';
const collection = `/apis/${group}/v1/namespaces/default/papers`;
const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataListOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const goal = 0.2;
const specBytes = 10_000;
const deadlineMs = 60_000;

/** Specs of the same size. Their managedFields, which are metadata, differ. */
const shapes = {
  'one text': { text: 'x'.repeat(specBytes) },
  'a list of 20 items': {
    list: Array.from({ length: 20 }, (_, index) => ({ name: `item-${index}`, text: 'x'.repeat(470) })),
  },
  'a map of 100 fields': {
    map: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field-${index}`, 'x'.repeat(85)])),
  },
};

const text = { type: 'string' };
const item = { type: 'object', properties: { name: text, text } };
const spec = {
  type: 'object',
  properties: { text, list: { type: 'array', items: item }, map: { type: 'object', additionalProperties: text } },
};
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `papers.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'papers', singular: 'paper', kind: 'Paper', listKind: 'PaperList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: anything } } },
      },
    ],
  },
};

/** Measures each shape of a spec. */
export async function f11(): Promise<readonly Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const plane = await startControlPlane();
  cleanup.defer(() => plane.stop());
  const api = cleanup.adopt(createPlainApi({ url: plane.url, ca: plane.ca, token: plane.adminToken }), async (one) =>
    one.close(),
  );
  await create(api, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await untilServed(api, collection);
  const rows: Row[] = [];
  for (const [shape, given] of Object.entries(shapes)) {
    const name = shape.replaceAll(' ', '-');
    const object = { apiVersion: `${group}/v1`, kind: 'Paper', metadata: { name }, spec: given };
    await apply(api, `${name}?fieldManager=another-manager`, object);
    const whole = await bytesOfEvent(api, name, 'application/json');
    const metadata = await bytesOfEvent(api, name, metadataOnly);
    rows.push({
      figure: 'f11',
      what: `bytes sent for a watched object with ${specBytes / 1000} kB of spec: ${shape}`,
      ours: `${metadata} B`,
      peer: `${whole} B (whole object)`,
      ratio: (metadata / whole).toFixed(2),
      goal: `<= ${goal.toFixed(2)}`,
      met: metadata <= goal * whole,
    });
  }
  return [...rows, ...(await pageRows(plane, api))];
}

/** The metadata of a page, and its whole objects as a resync lists them, with and without gzip. */
async function pageRows(plane: ControlPlane, api: PlainApi): Promise<readonly Row[]> {
  for (let number = 0; number < listPageSize; number += 1) {
    const name = `page-${number}`;
    const papers = { apiVersion: `${group}/v1`, kind: 'Paper', metadata: { name } };
    await apply(api, `${name}?fieldManager=another-manager`, { ...papers, spec: { text: `text ${number}` } });
    const status = convergedStatus(number);
    await apply(api, `${name}/status?fieldManager=outrigger-paper`, { ...papers, status });
  }
  const rows: Row[] = [];
  for (const [what, accept] of [
    [`a page of ${listPageSize} objects' metadata`, metadataListOnly],
    [`a page of ${listPageSize} whole objects with a small spec`, 'application/json'],
  ] as const) {
    const compressed = await bytesOfPage(plane, { accept, 'accept-encoding': 'gzip' });
    const plain = await bytesOfPage(plane, { accept });
    rows.push({
      figure: 'f11',
      what: `bytes sent for ${what}, with gzip`,
      ours: `${compressed} B`,
      peer: `${plain} B (without gzip)`,
      ratio: (compressed / plain).toFixed(2),
      goal: `<= ${goal.toFixed(2)}`,
      met: compressed <= goal * plain,
    });
  }
  return rows;
}

async function apply(api: PlainApi, target: string, object: object): Promise<void> {
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const applied = await api.call('PATCH', `${collection}/${target}`, object, headers);
  if (applied.status >= 300) throw new Error(`f11: ${applied.status} ${JSON.stringify(applied.body)}`);
}

/** The status of a converged object, as a controller with one condition of its own writes it. */
function convergedStatus(number: number) {
  const lastTransitionTime = new Date(Date.parse('2026-01-01T00:00:00Z') + number * 7_919_000).toISOString();
  const condition = {
    status: 'True',
    observedGeneration: 1,
    lastTransitionTime: lastTransitionTime.replace('.000', ''),
  };
  const conditions = [
    { ...condition, type: 'Printed', reason: 'Printed', message: '' },
    { ...condition, type: 'Ready', reason: 'Ready', message: '' },
  ];
  return { observedGeneration: 1, conditions };
}

/** Returns the bytes of a page as they are sent. */
async function bytesOfPage({ url, ca, adminToken }: ControlPlane, headers: OutgoingHttpHeaders): Promise<number> {
  const path = `${collection}?limit=${listPageSize}`;
  const options = {
    headers: { ...headers, authorization: `Bearer ${adminToken}` },
    ca,
    signal: AbortSignal.timeout(deadlineMs),
  };
  return await new Promise((resolve, reject) => {
    https
      .get(new URL(path, url), options, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.once('error', reject);
        response.once('end', () => resolve(bytes));
      })
      .once('error', reject);
  });
}

/** Returns the bytes of the event with which a new watch reports one object. */
async function bytesOfEvent(api: PlainApi, name: string, accept: string): Promise<number> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(deadlineMs)]);
  let bytes = 0;
  const onLine = (line: string) => {
    bytes ||= Buffer.byteLength(`${line}\n`);
    stopping.abort();
  };
  const path = `${collection}?watch=true&fieldSelector=metadata.name%3D${name}`;
  await api.follow(path, onLine, signal, { accept }).catch((error: unknown) => {
    if (bytes === 0) throw error;
  });
  return bytes;
}
