import type { Stake } from './stake-state.ts';
import type { StakeHistoryEntry } from './sysvars.ts';
import { U64_MAX } from './units.ts';

/** Share of the cluster's stake that may warm up or cool down per epoch. Source: solana-stake-interface. */
const WARMUP_COOLDOWN_RATE = 0.09;

/** Lamports. */
export type StakeActivation = Readonly<{ effective: bigint; activating: bigint; deactivating: bigint }>;

/** Returns undefined for an epoch outside the history. */
export type StakeHistoryLookup = (epoch: bigint) => Omit<StakeHistoryEntry, 'epoch'> | undefined;

export function stakeHistoryLookup(entries: readonly StakeHistoryEntry[]): StakeHistoryLookup {
  const byEpoch = new Map<bigint, StakeHistoryEntry>(entries.map((entry) => [entry.epoch, entry]));
  return (epoch) => byEpoch.get(epoch);
}

/** This stake's share of the cluster's lamports that may warm up or cool down in an epoch; at least 1. */
function share(own: bigint, moving: bigint, clusterEffective: bigint): bigint {
  const weight = Number(own) / Number(moving);
  const moved = BigInt(Math.trunc(weight * (Number(clusterEffective) * WARMUP_COOLDOWN_RATE)));
  return moved > 1n ? moved : 1n;
}

type Delegation = Stake['delegation'];

/** Effective stake after warmup, before any cooldown. */
function effectiveAfterWarmup(delegation: Delegation, target: bigint, history: StakeHistoryLookup): bigint {
  const { stake, activationEpoch, deactivationEpoch } = delegation;
  let cluster = history(activationEpoch);
  if (cluster === undefined) return stake;
  let effective = 0n;
  for (let epoch = activationEpoch + 1n; cluster !== undefined && cluster.activating > 0n; epoch++) {
    effective += share(stake - effective, cluster.activating, cluster.effective);
    if (effective >= stake) return stake;
    if (epoch >= target || epoch >= deactivationEpoch) break;
    cluster = history(epoch);
  }
  return effective;
}

function effectiveAndActivating(
  delegation: Delegation,
  target: bigint,
  history: StakeHistoryLookup,
): [bigint, bigint] {
  const { stake, activationEpoch, deactivationEpoch } = delegation;
  // Stake from the genesis block is effective immediately.
  if (activationEpoch === U64_MAX) return [stake, 0n];
  if (activationEpoch === deactivationEpoch || target < activationEpoch) return [0n, 0n];
  if (target === activationEpoch) return [0n, stake];
  const effective = effectiveAfterWarmup(delegation, target, history);
  return [effective, stake - effective];
}

function effectiveAfterCooldown(
  { deactivationEpoch }: Delegation,
  start: bigint,
  target: bigint,
  history: StakeHistoryLookup,
): bigint {
  let cluster = history(deactivationEpoch);
  if (cluster === undefined) return 0n;
  let effective = start;
  for (let epoch = deactivationEpoch + 1n; cluster !== undefined && cluster.deactivating > 0n; epoch++) {
    effective -= share(effective, cluster.deactivating, cluster.effective);
    if (effective <= 0n) return 0n;
    if (epoch >= target) break;
    cluster = history(epoch);
  }
  return effective;
}

/** Source: solana-stake-interface, `Delegation::stake_activating_and_deactivating`. */
export function stakeActivation(
  delegation: Delegation,
  target: bigint,
  history: StakeHistoryLookup,
): StakeActivation {
  const [effective, activating] = effectiveAndActivating(delegation, target, history);
  const { deactivationEpoch } = delegation;
  if (target < deactivationEpoch) return { effective, activating, deactivating: 0n };
  if (target === deactivationEpoch) return { effective, activating: 0n, deactivating: effective };
  const remaining = effectiveAfterCooldown(delegation, effective, target, history);
  return { effective: remaining, activating: 0n, deactivating: remaining };
}
