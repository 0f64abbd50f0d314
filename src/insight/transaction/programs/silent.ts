import type { KnownProgram, ReadInstruction } from '../action.ts';

/** For programs of which only the name is known: whatever they do is UNKNOWN. */
export const untold: ReadInstruction = () => null;

/** A program with a name and no more. */
export const named = (name: string): KnownProgram => ({ name, read: untold });

/** A program whose instructions say how others run, and move nothing: they are not told. */
export const silent = (name: string): KnownProgram => ({ name, read: () => [] });
