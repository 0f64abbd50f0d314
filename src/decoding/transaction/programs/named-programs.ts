import type { ProgramParser, ReadInstruction } from '../action.ts';

/** For programs of which only the name is known: whatever they do is UNKNOWN. */
const readUnknown: ReadInstruction = () => null;

/**
 * What an instruction does under the name that jsonParsed gives it, in capitals, with the info of jsonParsed; null
 * where its bytes are not understood. Source: rest-api.md §3, "SPL jsonParsed with no mapping".
 */
export const underItsName: ReadInstruction = ({ parsed }) =>
  parsed === null ? null : [{ type: parsed.type.toUpperCase(), info: parsed.info }];

/** A program with a name and no more. */
export const named = (name: string): ProgramParser => ({ name, read: readUnknown });

/** A program whose instructions jsonParsed has names for, and the interface has not. */
export const parsedByName = (name: string): ProgramParser => ({ name, read: underItsName });

/** A program whose instructions say how others run, and move nothing: they are not told. */
export const ignoredProgram = (name: string): ProgramParser => ({ name, read: () => [] });
