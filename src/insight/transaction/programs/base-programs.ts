import type { Address } from '../../../ledger/address.ts';
import { programs } from '../../../ledger/programs.ts';
import type { KnownProgram } from '../action.ts';
import { named, silent } from './silent.ts';

/** Programs of the chain itself and of the token programs around it. */
export const basePrograms: readonly (readonly [Address, KnownProgram])[] = [
  [programs.computeBudget, silent('COMPUTE_BUDGET')],
  [programs.system, named('SYSTEM_PROGRAM')],
];
