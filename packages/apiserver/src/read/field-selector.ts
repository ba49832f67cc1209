// Field selectors: `metadata.name=a,spec.color!=red`. Only fields that a kind declares as selectable are allowed.
import { getIn, getString } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { ApiResource } from '../registry/resource.ts';
import { badRequest } from '../status-error.ts';

/** Compiles a selector for a kind. Throws a 400 StatusError for a field that is not selectable. */
export function fieldSelector(text: string, resource: ApiResource): (object: ApiObject) => boolean {
  const terms = text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => {
      const [, field = '', operator = '', value = ''] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
      if (operator === '')
        throw badRequest(`invalid field selector: ${JSON.stringify(text)}; can't understand '${term}'`);
      if (!isSelectable(field, resource)) throw badRequest(unsupportedText(field, resource));
      return { field, equal: operator !== '!=', value };
    });
  return (object) => terms.every(({ field, equal, value }) => (read(object, field) === value) === equal);
}

/** Built-in kinds without fields of their own have the message of the conversion that they share. */
function unsupportedText(field: string, { custom, selectable }: ApiResource): string {
  return custom || selectable.length > 0
    ? `field label not supported: ${field}`
    : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

function isSelectable(field: string, { namespaced, selectable }: ApiResource): boolean {
  return field === 'metadata.name' || (namespaced && field === 'metadata.namespace') || selectable.includes(field);
}

function read(object: ApiObject, field: string): string {
  // The source of an Event is a struct in v1 and a name in events.k8s.io.
  if (object.kind === 'Event' && field === 'source') {
    return getString(object, 'source', 'component') || getString(object, 'reportingComponent');
  }
  const value = getIn(object, ...field.split('.'));
  return value === undefined || value === null ? '' : String(value);
}
