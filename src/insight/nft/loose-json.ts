import type { JsonValue } from '../../base/json.ts';
import type { JsonMembers } from '../../ledger/encoding/read-json.ts';

/** Reads JSON that strangers wrote: what is not as it should be is as if it were not there. */

const NONE: JsonMembers = {};

/** The members of an object; none of what is no object. Never look for a name that every object inherits. */
export const membersOf = (value: JsonValue | undefined): JsonMembers =>
  value === null || typeof value !== 'object' || Array.isArray(value) ? NONE : value;

/** The items of a list, at most so many; none of what is no list. */
export const itemsOf = (value: JsonValue | undefined, itemsMax: number): readonly JsonValue[] =>
  Array.isArray(value) ? value.slice(0, itemsMax) : [];

/** Text, cut to so many characters; empty for what is none. */
export const textOf = (value: JsonValue | undefined, charactersMax: number): string =>
  typeof value === 'string' ? value.slice(0, charactersMax).toWellFormed() : '';

/** Text that means nothing when it is cut, such as a URI; empty for what is none, or longer. */
export const wholeTextOf = (value: JsonValue | undefined, charactersMax: number): string =>
  typeof value === 'string' && value.length <= charactersMax ? value.toWellFormed() : '';
