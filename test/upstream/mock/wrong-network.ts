import { genesisHashes } from '../../../src/upstream/chain.ts';
import type { Behaviour } from './server.ts';
import { type Told, telling } from './telling.ts';

/** Belongs to testnet. */
export const wrongNetwork = (told: Told): Behaviour => telling({ ...told, genesis: genesisHashes.testnet });
