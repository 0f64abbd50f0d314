import { genesisHashes } from '../../../src/upstream/genesis.ts';
import { type ReportedState, reporting } from './reporting.ts';
import type { Behaviour } from './server.ts';

/** Belongs to testnet. */
export const wrongNetwork = (reported: ReportedState): Behaviour =>
  reporting({ ...reported, genesis: genesisHashes.testnet });
