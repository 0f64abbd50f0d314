import { appPrograms } from '../../decoding/program-addresses.ts';
import { snsPrograms } from '../../decoding/sns/name-account.ts';
import { type Address, address } from '../../solana/address.ts';

const compression = {
  accountCompression: address('cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK'),
  noop: address('noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV'),
  mplAccountCompression: address('mcmt6YrQEMKw8Mw43FmpRLmf7BqRnFMKmAcbxE3xkAW'),
  mplNoop: address('mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3'),
} as const;

/** A program, and those it calls. */
type WellKnownProgram = Readonly<{ address: Address; calls?: readonly Address[] }>;

/** Programs that are no part of the ledger, by the name under which options accept them. */
export const wellKnownPrograms: Readonly<Record<string, WellKnownProgram>> = {
  'token-metadata': { address: appPrograms.tokenMetadata },
  core: { address: appPrograms.mplCore },
  // Trees of version 1 use the first two, those of version 2 the others.
  bubblegum: {
    address: address('BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY'),
    calls: Object.values(compression),
  },
  'account-compression': { address: compression.accountCompression, calls: [compression.noop] },
  noop: { address: compression.noop },
  'mpl-account-compression': { address: compression.mplAccountCompression, calls: [compression.mplNoop] },
  'mpl-noop': { address: compression.mplNoop },
  sns: { address: snsPrograms.names },
};

export function wellKnownProgram(name: string): WellKnownProgram | null {
  return Object.hasOwn(wellKnownPrograms, name) ? (wellKnownPrograms[name] ?? null) : null;
}
