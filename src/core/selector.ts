// Which objects of its kind a controller reconciles. The watch and the resync use the selector to read less. The
// function decides on the object that it has read, because messages also come from children, timers and commands.
import { isRecord } from './json.ts';
import { isWatcherNamespace } from './names.ts';

/** A requirement of one label. `NotIn` and `DoesNotExist` match objects without the label, as in Kubernetes. */
export type LabelExpression =
  | {
      /** The key of the label. */
      readonly key: string;
      /** `In`: the label has one of the values. */
      readonly operator: 'In' | 'NotIn';
      /** The values, at least one. */
      readonly values: readonly string[];
    }
  | {
      /** The key of the label. */
      readonly key: string;
      /** `Exists`: the object has the label, with any value. */
      readonly operator: 'Exists' | 'DoesNotExist';
      /** It has no values. */
      readonly values?: never;
    };

/** A label selector of Kubernetes: every label and every expression must match. */
export type LabelSelector = {
  /** Labels and their values, each of which an object has. */
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  /** Further requirements, each of which an object meets. */
  readonly matchExpressions?: readonly LabelExpression[] | undefined;
};

/** Selects objects by labels, annotations, namespaces and fields. All that is given must match. */
export type Selector = LabelSelector & {
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

/** The namespaces of the cluster itself. A controller of Namespaces must name them to select them, as a watcher's. */
const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** Returns whether an object is selected. Without a selector every object is. */
export function isSelected(selector: Selector | undefined, object: SelectedObject): boolean {
  return mismatchOf(selector, object) === undefined;
}

/** Returns the first part of a selector that an object does not match, such as `label tenant=true`. */
export function mismatchOf(selector: Selector | undefined, object: SelectedObject): string | undefined {
  if (selector === undefined) return undefined;
  const { name, namespace, labels = {}, annotations = {} } = object.metadata;
  const { annotations: keys = [], namespaces, fields = {} } = selector;
  const place = namespace ?? (object.kind === 'Namespace' ? name : undefined);
  if (namespaces !== undefined && (place === undefined || !namespaces.includes(place)))
    return `namespaces ${namespaces.join(', ')}`;
  const isSystem = object.kind === 'Namespace' && (systemNamespaces.includes(name) || isWatcherNamespace(name));
  if (namespaces === undefined && isSystem) return `namespaces with ${name}, which is one of the system`;
  const label = expressionsOf(selector).find((one) => !meets(one, labels));
  if (label !== undefined) return `label ${textOfExpression(label)}`;
  const annotation = keys.find((key) => !Object.hasOwn(annotations, key));
  if (annotation !== undefined) return `annotation ${annotation}`;
  const field = Object.entries(fields).find(([path, value]) => textAt(object, path) !== value);
  return field === undefined ? undefined : `field ${field.join('=')}`;
}

/** Returns whether a label selector matches these labels. */
export function selectsLabels(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return expressionsOf(selector).every((one) => meets(one, labels));
}

/** Returns the requirements of a label selector; a label of `matchLabels` is one of `In`. */
export function expressionsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): readonly LabelExpression[] {
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }) as const);
  return [...equal, ...matchExpressions];
}

/** Returns the selector as a label selector of the API; undefined for none. */
export function labelSelectorOf(selector: LabelSelector = {}): string | undefined {
  return joined(expressionsOf(selector).map(textOfExpression));
}

/** Returns the selector as a field selector of the API; undefined for none. */
export function fieldSelectorOf(selector: Selector | undefined): string | undefined {
  return joined(Object.entries(selector?.fields ?? {}).map((pair) => pair.join('=')));
}

function joined(requirements: readonly string[]): string | undefined {
  return requirements.length === 0 ? undefined : requirements.toSorted().join(',');
}

/** A label may have the name of a member that every object of JavaScript inherits: `constructor`. */
function meets({ key, operator, values = [] }: LabelExpression, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  return (value !== undefined && values.includes(value)) === (operator === 'In');
}

/** The text of the API. One value of `In` is an equality, as of matchLabels. */
function textOfExpression({ key, operator, values = [] }: LabelExpression): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  if (operator === 'In' && values.length === 1) return `${key}=${values[0]}`;
  return `${key} ${operator.toLowerCase()} (${values.toSorted().join(',')})`;
}

/** An absent field is the empty string or false, as in a field selector. */
function textAt(object: object, path: string): string {
  let value: unknown = object;
  for (const name of path.split('.')) value = isRecord(value) ? value[name] : undefined;
  return value === undefined || value === null ? '' : String(value);
}
