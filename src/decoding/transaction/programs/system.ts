import { rawAmount, solOf } from '../../amounts.ts';
import { addressOf, amountOf } from '../../lenient-json.ts';
import type { ProgramParser, ReadInstruction } from '../action.ts';
import { underItsName } from './named-programs.ts';

/** They make an account that something else then uses, or keep a nonce alive. */
const made: ReadonlySet<string> = new Set([
  ...['createAccount', 'createAccountWithSeed', 'allocate', 'allocateWithSeed', 'assign', 'assignWithSeed'],
  ...['createAccountAllowPrefund', 'initializeNonce', 'advanceNonce', 'upgradeNonce'],
]);

const read: ReadInstruction = (instruction, transaction) => {
  const { parsed } = instruction;
  if (parsed === null) return null;
  if (made.has(parsed.type)) return [];
  if (parsed.type !== 'transfer' && parsed.type !== 'transferWithSeed') {
    return underItsName(instruction, transaction);
  }
  const { source, destination, lamports } = parsed.info;
  const [sender, receiver, amount] = [addressOf(source), addressOf(destination), amountOf(lamports)];
  if (sender === null || receiver === null || amount === null) return null;
  const info = { sender, receiver, amount: solOf(amount), amount_raw: rawAmount(amount) };
  return [{ type: 'SOL_TRANSFER', info }];
};

/** The system program. */
export const systemProgram: ProgramParser = { name: 'SYSTEM_PROGRAM', read };
