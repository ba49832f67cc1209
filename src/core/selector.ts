// Which objects of its kind a controller reconciles. The watch and the resync use the selector to read less. The
// function decides on the object that it has read, because messages also come from children, timers and commands.
import { isRecord } from './json.ts';
import { systemNamespace } from './names.ts';

/** Selects objects by labels, annotations, namespaces and fields. All that is given must match. */
export type Selector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  /** Keys of annotations that an object has, with any value. The API server cannot select by them. */
  readonly annotations?: readonly string[];
  /** The namespaces of the objects; for the kind Namespace, their names. */
  readonly namespaces?: readonly string[];
  /** Values by path, such as `spec.unschedulable`. Only field selectors that the API server supports for the kind. */
  readonly fields?: Readonly<Record<string, string>>;
};

/** The parts of an object that a selector reads. */
type SelectedObject = {
  readonly kind?: unknown;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
};

/** The namespaces of the cluster itself and of the watcher, which a controller of Namespaces must name to select. */
const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease', systemNamespace];

/** Returns whether an object is selected. Without a selector every object is. */
export function isSelected(selector: Selector | undefined, object: SelectedObject): boolean {
  return mismatchOf(selector, object) === undefined;
}

/** Returns the first part of a selector that an object does not match, such as `label tenant=true`. */
export function mismatchOf(selector: Selector | undefined, object: SelectedObject): string | undefined {
  if (selector === undefined) return undefined;
  const { name, namespace, labels = {}, annotations = {} } = object.metadata;
  const { matchLabels = {}, annotations: keys = [], namespaces, fields = {} } = selector;
  const place = namespace ?? (object.kind === 'Namespace' ? name : undefined);
  if (namespaces !== undefined && (place === undefined || !namespaces.includes(place)))
    return `namespaces ${namespaces.join(', ')}`;
  if (namespaces === undefined && object.kind === 'Namespace' && systemNamespaces.includes(name))
    return `namespaces with ${name}, which is one of the system`;
  const label = Object.entries(matchLabels).find(([path, value]) => labels[path] !== value);
  if (label !== undefined) return `label ${label.join('=')}`;
  const annotation = keys.find((key) => annotations[key] === undefined);
  if (annotation !== undefined) return `annotation ${annotation}`;
  const field = Object.entries(fields).find(([path, value]) => textAt(object, path) !== value);
  return field === undefined ? undefined : `field ${field.join('=')}`;
}

/** Returns the selector as a label selector of the API; undefined for none. */
export function labelSelectorOf(selector: Selector | undefined): string | undefined {
  return textOf(selector?.matchLabels);
}

/** Returns the selector as a field selector of the API; undefined for none. */
export function fieldSelectorOf(selector: Selector | undefined): string | undefined {
  return textOf(selector?.fields);
}

function textOf(values: Readonly<Record<string, string>> = {}): string | undefined {
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? undefined : pairs.sort().join(',');
}

/** An absent field is the empty string or false, as in a field selector. */
function textAt(object: object, path: string): string {
  let value: unknown = object;
  for (const name of path.split('.')) value = isRecord(value) ? value[name] : undefined;
  return value === undefined || value === null ? '' : String(value);
}
