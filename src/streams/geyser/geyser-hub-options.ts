import { type BlockSchedulerLimits, blockSchedulerDefaults } from './channel/block-scheduler.ts';
import type { HubStreamLimits } from './hub-stream.ts';
import type { ReplayLimits, ReplaySchedulerLimits } from './replay.ts';
import type { SlotStoreLimits } from './slot-store.ts';

export type GeyserHubOptions = SlotStoreLimits &
  HubStreamLimits &
  ReplayLimits &
  ReplaySchedulerLimits &
  BlockSchedulerLimits &
  Readonly<{
    /** Response of GetVersion, as JSON text. */
    version: string;
  }>;

export const geyserHubOptions: GeyserHubOptions = {
  replaySlots: 150,
  replayMaxBytes: 512 * 1024 * 1024,
  waitingSlotsMax: 512,
  replayAheadBytes: 1024 * 1024,
  replayPauseMs: 5,
  replaysMax: 32,
  replayReadyTimeoutMs: 60_000,
  ...blockSchedulerDefaults,
  version: '{}',
};
