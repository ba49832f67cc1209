// Field selectors: `metadata.name=a,spec.color!=red`. Only fields that a kind declares can be asked for.
import { at, textAt } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { Resource } from '../registry/resource.ts';
import { badRequest } from '../status-error.ts';

/** A compiled selector. */
export interface FieldSelector {
  matches(object: ApiObject): boolean;
  /** The one name it asks for, where it does. */
  readonly name: string | undefined;
}

/** Compiles a selector for a kind. Throws a 400 StatusError for a field the kind does not select by. */
export function fieldSelector(text: string, resource: Resource): FieldSelector {
  const terms = text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => {
      const [, field = '', operator = '', value = ''] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
      if (operator === '')
        throw badRequest(`invalid field selector: ${JSON.stringify(text)}; can't understand '${term}'`);
      if (!isSelectable(field, resource)) throw badRequest(`field label not supported: ${field}`);
      return { field, equal: operator !== '!=', value };
    });
  return {
    matches: (object) => terms.every(({ field, equal, value }) => (read(object, field) === value) === equal),
    name: terms.find(({ field, equal }) => equal && field === 'metadata.name')?.value,
  };
}

function isSelectable(field: string, { namespaced, selectable }: Resource): boolean {
  return field === 'metadata.name' || (namespaced && field === 'metadata.namespace') || selectable.includes(field);
}

function read(object: ApiObject, field: string): string {
  // An Event's source was a struct before it was a name.
  if (object.kind === 'Event' && field === 'source') {
    return textAt(object, 'source', 'component') || textAt(object, 'reportingComponent');
  }
  const value = at(object, ...field.split('.'));
  return value === undefined || value === null ? '' : String(value);
}
