// Label selectors of objects as text, as in Tables and in the scale subresource (k8s.io/apimachinery, labels.Selector).
import { getList, getMap, getString, type Json, type JsonObject } from '../json.ts';

/** Returns a map of labels as text: `a=b,c=d`. */
export function labelsText(labels: JsonObject): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${String(value)}`)
    .toSorted()
    .join(',');
}

/** Returns a LabelSelector as text: `a=b,c in (d,e),!f`. */
export function selectorText(selector: JsonObject): string {
  const labels = Object.entries(getMap(selector, 'matchLabels')).map(([key, value]) => [key, `=${String(value)}`]);
  const expressions = getList(selector, 'matchExpressions').map((one) => [getString(one, 'key'), expressionText(one)]);
  return [...labels, ...expressions]
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map(([key = '', rest = '']) => (rest === '!' ? `!${key}` : `${key}${rest}`))
    .join(',');
}

function expressionText(expression: Json): string {
  const values = getList(expression, 'values').map(String).toSorted().join(',');
  switch (getString(expression, 'operator')) {
    case 'In':
      return ` in (${values})`;
    case 'NotIn':
      return ` notin (${values})`;
    case 'DoesNotExist':
      return '!';
    default:
      return '';
  }
}
