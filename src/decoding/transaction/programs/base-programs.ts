import type { Address } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import { rawAmount, solOf } from '../../amounts.ts';
import { addressOf, u64Of } from '../../lenient-json.ts';
import {
  ignoredProgram,
  jsonParsedProgram,
  type ProgramParser,
  type ReadInstruction,
  readByParsedType,
  unparsedProgram,
} from '../action.ts';
import { token2022Program, tokenProgram } from './token.ts';

const ignoredTypes: ReadonlySet<string> = new Set([
  ...['createAccount', 'createAccountWithSeed', 'allocate', 'allocateWithSeed', 'assign', 'assignWithSeed'],
  ...['createAccountAllowPrefund', 'initializeNonce', 'advanceNonce', 'upgradeNonce'],
]);

const read: ReadInstruction = (instruction, transaction) => {
  const { parsed } = instruction;
  if (parsed === null) return null;
  if (ignoredTypes.has(parsed.type)) return [];
  if (parsed.type !== 'transfer' && parsed.type !== 'transferWithSeed') {
    return readByParsedType(instruction, transaction);
  }
  const { source, destination, lamports } = parsed.info;
  const [sender, receiver, amount] = [addressOf(source), addressOf(destination), u64Of(lamports)];
  if (sender === null || receiver === null || amount === null) return null;
  const info = { sender, receiver, amount: solOf(amount), amount_raw: rawAmount(amount) };
  return [{ type: 'SOL_TRANSFER', info }];
};

export const systemProgram: ProgramParser = { name: 'SYSTEM_PROGRAM', read };

const readAssociatedToken: ReadInstruction = (instruction, transaction) => {
  const { parsed } = instruction;
  if (parsed?.type === 'create' || parsed?.type === 'createIdempotent') return [];
  return readByParsedType(instruction, transaction);
};

const memoProgram: ProgramParser = {
  name: 'MEMO_PROGRAM',
  read: ({ parsed }) => (parsed === null ? null : [{ type: 'MEMO', info: { message: parsed.info.memo } }]),
};

export const basePrograms: readonly (readonly [Address, ProgramParser])[] = [
  [programs.system, systemProgram],
  [programs.token, tokenProgram],
  [programs.token2022, token2022Program],
  [programs.ata, { name: 'ASSOCIATED_TOKEN_PROGRAM', read: readAssociatedToken }],
  [programs.memoV1, memoProgram],
  [programs.memoV3, memoProgram],
  [programs.memoV4, memoProgram],
  [programs.computeBudget, ignoredProgram('COMPUTE_BUDGET_PROGRAM')],
  [programs.stake, jsonParsedProgram('STAKE_PROGRAM')],
  [programs.vote, jsonParsedProgram('VOTE_PROGRAM')],
  [programs.addressLookupTable, jsonParsedProgram('ADDRESS_LOOKUP_TABLE_PROGRAM')],
  [programs.bpfLoader2, jsonParsedProgram('BPF_LOADER')],
  [programs.bpfUpgradeableLoader, jsonParsedProgram('BPF_UPGRADEABLE_LOADER')],
  [programs.bpfLoader1, unparsedProgram('BPF_LOADER_DEPRECATED')],
  [programs.loaderV4, unparsedProgram('LOADER_V4')],
  [programs.config, unparsedProgram('CONFIG_PROGRAM')],
  [programs.ed25519, unparsedProgram('ED25519_PROGRAM')],
  [programs.secp256k1, unparsedProgram('SECP256K1_PROGRAM')],
  [programs.secp256r1, unparsedProgram('SECP256R1_PROGRAM')],
  [programs.zkElGamalProof, unparsedProgram('ZK_ELGAMAL_PROOF_PROGRAM')],
];
