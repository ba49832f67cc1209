// The rules of Kubernetes for the keys and values of labels
// (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set).

const name = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const domain = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
const labelKey = new RegExp(`^((?=[^/]{1,253}/)${domain}(\\.${domain})*/)?${name}$`);
const labelValue = new RegExp(`^(${name})?$`);

/** Returns whether a text may be the key of a label. */
export function isLabelKey(key: string): boolean {
  return labelKey.test(key);
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
