import type { Network } from './call.ts';

/** From best to worst. */
export const statusStates = ['operational', 'degraded', 'outage'] as const;
export type StatusState = (typeof statusStates)[number];

/** One UTC day. `state` is the worst of the day; null: not recorded. */
export type StatusDay = Readonly<{
  date: string;
  state: StatusState | null;
  degradedMinutes: number;
  outageMinutes: number;
}>;

/** For the public: without nodes, gateways and customers. */
export type ServiceStatus = Readonly<{
  state: StatusState;
  /** ISO 8601. */
  updatedAt: string;
  networks: readonly Readonly<{
    network: Network;
    state: StatusState;
    /** Share of the recorded time without outage; null: not recorded. */
    availability: number | null;
    /** Oldest first; empty while the history is unknown. */
    days: readonly StatusDay[];
  }>[];
}>;
