import { address } from '../../src/solana/address.ts';
import { decodeAddressLookupTable } from '../../src/solana/address-lookup-table.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { decodeNonce, encodeNonce } from '../../src/solana/nonce.ts';
import { decodeStakeState, encodeStakeState } from '../../src/solana/stake-state.ts';
import {
  decodeClock,
  decodeEpochRewards,
  decodeEpochSchedule,
  decodeFees,
  decodeLastRestartSlot,
  decodeRecentBlockhashes,
  decodeRent,
  decodeRewards,
  decodeSlotHashes,
  decodeSlotHistory,
  decodeStakeHistory,
} from '../../src/solana/sysvars.ts';
import { readExtensions } from '../../src/solana/token/extensions.ts';
import { decodeMint, decodeMultisig, decodeTokenAccount } from '../../src/solana/token/token-state.ts';
import { decodeVoteState, encodeVoteState, NO_PRIOR_VOTERS } from '../../src/solana/vote-state.ts';

export const from = "programs' accounts, through nodes";
export const covers = [
  'base/bytes.ts',
  'solana/address-lookup-table.ts',
  'solana/nonce.ts',
  'solana/stake-state.ts',
  'solana/sysvars.ts',
  'solana/token/',
  'solana/vote-state.ts',
];

const decoders: readonly ((data: Uint8Array) => unknown)[] = [
  decodeAddressLookupTable,
  decodeNonce,
  decodeStakeState,
  decodeVoteState,
  decodeTokenAccount,
  decodeMint,
  decodeMultisig,
  decodeClock,
  decodeEpochRewards,
  decodeEpochSchedule,
  decodeFees,
  decodeLastRestartSlot,
  decodeRecentBlockhashes,
  decodeRent,
  decodeRewards,
  decodeSlotHashes,
  decodeSlotHistory,
  decodeStakeHistory,
];

const someone = address('SysvarC1ock11111111111111111111111111111111');

const initializedMint = Uint8Array.from({ length: 82 }, (_, at) => (at === 45 ? 1 : 0));
const initializedAccount = Uint8Array.from({ length: 165 }, (_, at) => (at === 108 ? 1 : 0));
const extendedAccount = Uint8Array.from([...initializedAccount, 2, 7, 0, 0, 0, 1, 0, 2, 0, 9, 9]);

/** One valid account of each kind that has a form of its own. */
export const seeds: readonly Uint8Array[] = [
  initializedMint,
  initializedAccount,
  extendedAccount,
  Uint8Array.from({ length: 355 }, (_, at) => (at < 3 ? 1 : 5)),
  Uint8Array.from({ length: 56 + 64 }, (_, at) => (at === 0 ? 1 : 0)),
  encodeNonce({
    version: 'current',
    data: {
      authority: someone,
      durableNonce: blockhashFromBytes(new Uint8Array(32)),
      lamportsPerSignature: 5000n,
    },
  }),
  encodeStakeState({ type: 'uninitialized' }),
  encodeVoteState({
    version: 'V3',
    node: someone,
    authorizedWithdrawer: someone,
    commission: 10,
    votes: [{ latency: 1, slot: 5n, confirmationCount: 1 }],
    rootSlot: 4n,
    authorizedVoters: [{ epoch: 0n, voter: someone }],
    priorVoters: NO_PRIOR_VOTERS,
    epochCredits: [{ epoch: 0n, credits: 2n, previousCredits: 1n }],
    lastTimestamp: { slot: 5n, timestamp: 1n },
  }),
];

/** Every decoder of account data gives a value or null, whatever the bytes. */
export function fuzz(input: Uint8Array): boolean {
  readExtensions(input);
  return decoders.map((decode) => decode(input)).some((value) => value !== null);
}
