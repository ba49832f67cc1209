// The stage of a situation: one child of an owner, which the controller applies and other clients change, and the
// requests of each reconcile as one text.
import { applyAll } from '../../../../src/kube/apply/apply-all.ts';
import { childObject, type DesiredChild } from '../../../../src/kube/apply/child-object.ts';
import type { KubeClient, KubeRequest } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { type KubeObject, parseObject, type ResourceName } from '../../../../src/kube/client/object.ts';
import { collectionPath, objectPath } from '../../../../src/kube/client/path.ts';
import { getObject } from '../../../../src/kube/client/read.ts';
import { configMaps } from '../../namespace.ts';

/** A kind of children. */
export type ChildOfKind = ResourceName & { readonly apiVersion: string; readonly kind: string };

/** Fields of an object that a test changes as it likes. */
export type Loose = Record<string, unknown>;

/** What a situation is played with. */
type Fixture = { readonly client: KubeClient; readonly owner: KubeObject; readonly namespace: string };

/** The options of all reconciles of a situation. */
export type StageOptions = {
  /** Default `c`. */
  readonly name?: string;
  readonly exact?: readonly string[];
  readonly recreate?: boolean;
  /** Before each request of the controller. */
  readonly before?: (stage: Stage, request: KubeRequest) => Promise<unknown>;
  /** Which requests of the controller a policy refuses, with a cause that names no field. */
  readonly refuses?: (request: KubeRequest) => boolean;
  /** What admission makes of an applied object. */
  readonly rewrites?: (body: Loose) => Loose;
};

const apply = 'application/apply-patch+yaml';
const merge = 'application/merge-patch+json';

const policyStatus = { kind: 'Status', reason: 'Invalid', details: { causes: [{ message: 'a policy' }] } };

/** One child, and what was requested for it. */
export class Stage {
  /** One entry for each reconcile, as in `C; S422, M, S; 0`. */
  readonly reconciles: string[] = [];
  readonly #fixture: Fixture;
  readonly #kind: ChildOfKind;
  readonly #options: StageOptions;
  #isFirstConflict = true;

  constructor(fixture: Fixture, kind: ChildOfKind, options: StageOptions) {
    this.#fixture = fixture;
    this.#kind = kind;
    this.#options = options;
  }

  /** Reconciles once. A refusal by the server is a part of the situation. */
  async reconcile(fields: Loose, { isThorough = false } = {}): Promise<void> {
    const sent: string[] = [];
    const client: KubeClient = {
      ...this.#fixture.client,
      request: async (request) => {
        const { before, refuses, rewrites } = this.#options;
        await before?.(this, request);
        const letter = letterOf(request);
        const body = letter === 'S' && rewrites !== undefined ? rewrites({ ...Object(request.body) }) : request.body;
        try {
          if (letter === 'S' && refuses?.(request) === true) throw new ApiError(request.path, 422, policyStatus);
          const response = await this.#fixture.client.request({ ...request, body });
          if (letter !== '') sent.push(letter === 'S' && response.status === 201 ? 'C' : letter);
          return response;
        } catch (error) {
          if (letter !== '' && error instanceof ApiError) sent.push(`${letter}${error.status}`);
          throw error;
        }
      },
    };
    const { exact, recreate } = this.#options;
    await applyAll(client, {
      ...this.#childKind(),
      desired: [this.#desired(fields)],
      prune: false,
      exact,
      recreate,
      isThorough,
    }).catch((error: unknown) => {
      if (!(error instanceof Error) || sent.length === 0) throw error;
    });
    this.reconciles.push(sent.length === 0 ? '0' : sent.join(', '));
  }

  /** Changes the child as another client, by a merge patch. */
  async merge(fieldManager: string, body: Loose): Promise<void> {
    await this.#send('PATCH', this.#path(), { query: { fieldManager }, contentType: merge, body });
  }

  /** Changes the child as another client, by a forced server-side apply of these fields. */
  async apply(fieldManager: string, fields: Loose): Promise<void> {
    const { apiVersion, kind } = this.#kind;
    const body = { apiVersion, kind, metadata: this.#key(), ...fields };
    await this.#send('PATCH', this.#path(), { query: { fieldManager, force: true }, contentType: apply, body });
  }

  /** Replaces the child as another client, which knows no managedFields. */
  async put(fieldManager: string, change: (live: Loose) => Loose): Promise<void> {
    const live = await this.read();
    const { managedFields: _, ...metadata } = live.metadata;
    const body = { ...change({ ...live, metadata }), metadata };
    await this.#send('PUT', this.#path(), { query: { fieldManager }, body });
  }

  /** Creates the child as a backup tool does: with its labels and references, and without managedFields. */
  async restore(fieldManager: string, fields: Loose): Promise<void> {
    const live = await getObject(this.#fixture.client, this.#kind, this.#key());
    if (live !== undefined) await this.#send('DELETE', this.#path(), {});
    const body = childObject(this.#childKind(), this.#desired(fields));
    await this.#send('POST', collectionPath(this.#kind, this.#fixture.namespace), { query: { fieldManager }, body });
  }

  /** Gives the child a second owner, and finalizers. */
  async addOwner(fieldManager: string, finalizers: readonly string[]): Promise<void> {
    const name = 'second';
    const collection = collectionPath(configMaps, this.#fixture.namespace);
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: this.#fixture.namespace } };
    const { body } = await this.#fixture.client.request({ method: 'POST', path: collection, body: owner });
    const second = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: parseObject(body).metadata.uid };
    const { ownerReferences = [] } = (await this.read()).metadata;
    await this.merge(fieldManager, { metadata: { ownerReferences: [...ownerReferences, second], finalizers } });
  }

  /** Deletes the child. */
  async remove(): Promise<void> {
    await this.#send('DELETE', this.#path(), {});
  }

  /** Clears all managers, as a broken client does. */
  async clear(): Promise<void> {
    await this.merge('cleaner', { metadata: { managedFields: [{}] } });
  }

  /** Sets the scale, as an autoscaler does. */
  async scale(replicas: number): Promise<void> {
    const path = objectPath(this.#kind, this.#key(), 'scale');
    const query = { fieldManager: 'kube-controller-manager' };
    await this.#send('PATCH', path, { query, contentType: merge, body: { spec: { replicas } } });
  }

  /** Writes the status, as its controller does. */
  async status(fieldManager: string, status: Loose): Promise<void> {
    const path = objectPath(this.#kind, this.#key(), 'status');
    await this.#send('PATCH', path, { query: { fieldManager }, contentType: merge, body: { status } });
  }

  /** Runs once, before the first patch of managedFields. */
  async onceBeforeOwnership({ body, contentType }: KubeRequest, act: () => Promise<unknown>): Promise<void> {
    if (contentType !== merge || !this.#isFirstConflict || body === undefined) return;
    this.#isFirstConflict = false;
    await act();
  }

  async read(): Promise<KubeObject> {
    return parseObject(await getObject(this.#fixture.client, this.#kind, this.#key()));
  }

  async #send(method: KubeRequest['method'], path: string, request: Partial<KubeRequest>): Promise<void> {
    await this.#fixture.client.request({ method, path, ...request });
  }

  #key() {
    const { name = 'c' } = this.#options;
    return { name, ...(this.#kind.namespaced ? { namespace: this.#fixture.namespace } : {}) };
  }

  #path(): string {
    return objectPath(this.#kind, this.#key());
  }

  #desired({ metadata, ...fields }: Loose): DesiredChild {
    return { ...fields, metadata: { name: this.#key().name, ...Object(metadata) } };
  }

  #childKind() {
    const { owner } = this.#fixture;
    const { apiVersion, kind } = this.#kind;
    const keepsNull = apiVersion.includes('example.com');
    return { owner, controllerName: 'cases', resource: this.#kind, apiVersion, kind, keepsNull };
  }
}

/**
 * `S` an apply (`C` that created), `M` a patch of managedFields, `J` the removal of what is desired empty, `P` a
 * creation that is only tried, `D` a deletion. Nothing for a read.
 */
function letterOf({ method, contentType }: KubeRequest): string {
  if (method === 'DELETE') return 'D';
  if (method === 'POST') return 'P';
  if (contentType === apply) return 'S';
  if (contentType === merge) return 'M';
  return method === 'PATCH' ? 'J' : '';
}
