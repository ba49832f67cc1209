// Book's bad input, which its statements number.
import { Book } from '../../../src/controllers/book.ts';
import type { BadInput } from './bad-input.ts';

const good = { title: 'David Copperfield', author: 'Dickens' };

export const bookInput: BadInput = {
  kind: Book,
  id: 'BK4',
  idOfUnknown: 'BK5',
  good,
  refused: [
    {
      id: 'BK3',
      what: 'only foo (moby-dick)',
      name: 'moby-dick',
      spec: { foo: 'bar' },
      fields: ['spec.author', 'spec.title'],
      says: 'Required',
    },
    { what: 'author 42', spec: { ...good, author: 42 }, fields: ['spec.author'], says: 'must be of type string' },
    { what: 'author null', spec: { ...good, author: null }, fields: ['spec.author'], says: 'Required' },
    { what: 'title ""', spec: { ...good, title: '' }, fields: ['spec.title'], says: 'at least 1 chars long' },
    { what: 'spec "text"', spec: 'text', fields: ['spec'], says: 'must be of type object' },
  ],
};
