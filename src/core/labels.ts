// The rules of Kubernetes for the keys and values of labels
// (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set).
import type { LabelSelector } from './selector.ts';

const name = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const domain = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
const labelKey = new RegExp(`^((?=[^/]{1,253}/)${domain}(\\.${domain})*/)?${name}$`);
const labelValue = new RegExp(`^(${name})?$`);

/** Returns whether a text may be the key of a label. */
export function isLabelKey(key: string): boolean {
  return labelKey.test(key);
}

/** Returns the problem of a label selector with its field, such as `matchLabels: a b=c is …`; undefined for none. */
export function labelSelectorProblem({ matchLabels, matchExpressions = [] }: LabelSelector): string | undefined {
  const wrong = invalidLabel(matchLabels);
  if (wrong !== undefined) return `matchLabels: ${wrong} is not a valid label and value`;
  for (const [index, { key, operator, values }] of matchExpressions.entries()) {
    const field = `matchExpressions[${index}]`;
    const hasValues = operator === 'In' || operator === 'NotIn';
    if (hasValues && !values?.length) return `${field}.values: ${operator} needs a value at least`;
    if (!hasValues && values !== undefined) return `${field}.values: ${operator} has none; leave them out`;
    const invalid = (values ?? ['']).map((value) => invalidLabel({ [key]: value })).find((one) => one !== undefined);
    if (invalid !== undefined) return `${field}: ${invalid} is not a valid label and value`;
  }
  return undefined;
}

/**
 * Returns the first label, as `key=value`, that Kubernetes does not accept. A selector with such a text, for example
 * with a comma, would select other objects.
 */
export function invalidLabel(labels: Readonly<Record<string, unknown>> = {}): string | undefined {
  const isValid = ([key, value]: readonly [string, unknown]) =>
    labelKey.test(key) && typeof value === 'string' && labelValue.test(value);
  return Object.entries(labels)
    .find((one) => !isValid(one))
    ?.join('=');
}
