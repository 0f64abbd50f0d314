import { type BlockTurnsLimits, blockTurnsDefaults } from './channel/block-turns.ts';
import type { HeldContentLimits } from './held-content.ts';
import type { HubStreamLimits } from './hub-stream.ts';
import type { ReplayLimits } from './replay.ts';
import type { ReplayTurnsLimits } from './replay-turns.ts';

export type GeyserHubOptions = HeldContentLimits &
  HubStreamLimits &
  ReplayLimits &
  ReplayTurnsLimits &
  BlockTurnsLimits &
  Readonly<{
    /** What GetVersion answers: JSON text. */
    version: string;
  }>;

/** What a hub holds, and how it tells it, when nothing else is said. */
export const geyserHubOptions: GeyserHubOptions = {
  replaySlots: 150,
  replayMaxBytes: 512 * 1024 * 1024,
  waitingSlotsMax: 512,
  replayAheadBytes: 1024 * 1024,
  replayPauseMs: 5,
  replaysMax: 32,
  replayReadyTimeoutMs: 60_000,
  ...blockTurnsDefaults,
  version: '{}',
};
