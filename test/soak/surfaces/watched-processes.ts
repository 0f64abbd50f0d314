import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultUpstreamLimits } from '../../../src/upstream/limits.ts';
import { descriptorsOf } from '../../programs/process-stats.ts';
import { EndsWatch } from '../figures/ends-watch.ts';
import { type IdleCount, IdleCountWatch } from '../figures/idle-count-watch.ts';
import { type Inside, ProcessWatch } from '../figures/process-watch.ts';
import type { OpenSurfaces } from './open-surfaces.ts';
import type { SoakedService } from './soaked-service.ts';

/** The two processes of the service, and this one with the clients. */
export type WatchedProcesses = Readonly<{
  gateway: ProcessWatch;
  ledger: ProcessWatch;
  clients: ProcessWatch;
  /** Connection ends of the gateway. */
  ends: EndsWatch;
}>;

const MIB = 1024 * 1024;
/** Idle timeout of the gateway. */
const IDLE_MS = defaultUpstreamLimits.idleTimeoutMs;

/** Memory and event loop of this process. */
function watchSelf(): () => Inside {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  return () => {
    const { heapUsed, external } = process.memoryUsage();
    const p99 = delay.percentile(99);
    delay.reset();
    return {
      ...{ heapMib: heapUsed / MIB, externalMib: external / MIB },
      loopDelayMs: Number.isFinite(p99) ? p99 / 1e6 : 0,
    };
  };
}

const ownPid = (): number => process.pid;

const gatewayOf = ({ running }: SoakedService) => ({
  name: 'gateway',
  pid: () => running.process.pid ?? null,
});

const ledgerOf = ({ ledgerPid }: SoakedService) => ({ name: 'ledger', pid: ledgerPid });

/** Samples all processes from now on. */
export const watchProcesses = (service: SoakedService, { metrics }: OpenSurfaces): WatchedProcesses => ({
  gateway: new ProcessWatch({ ...gatewayOf(service), inside: () => metrics.inside }),
  ledger: new ProcessWatch({ ...ledgerOf(service), inside: () => null }),
  clients: new ProcessWatch({ name: 'clients', pid: ownPid, inside: watchSelf() }),
  ends: new EndsWatch({ pid: gatewayOf(service).pid, others: [service.ledgerPid, ownPid] }),
});

/** Without the sockets of its clients, whose number may change. */
const withoutClients = (pid: number): number => descriptorsOf(pid) - descriptorsOf(process.pid);

/** Counts descriptors without clients. */
export async function watchEmpty(service: SoakedService): Promise<IdleCountWatch[]> {
  await sleep(IDLE_MS);
  const how = { when: 'after all clients disconnected', count: descriptorsOf, closedWithinMs: 2 * IDLE_MS };
  return [gatewayOf(service), ledgerOf(service)].map((one) => new IdleCountWatch({ ...one, ...how }));
}

/** Counts descriptors with idle clients. */
export async function watchListening(service: SoakedService): Promise<IdleCountWatch[]> {
  await sleep(IDLE_MS);
  const how = { when: 'with idle clients', closedWithinMs: 2 * IDLE_MS };
  return [
    new IdleCountWatch({ ...gatewayOf(service), ...how, count: withoutClients }),
    new IdleCountWatch({ ...ledgerOf(service), ...how, count: descriptorsOf }),
  ];
}

/** Counts again under the same conditions. */
export const countAgain = (watches: readonly IdleCountWatch[]): Promise<IdleCount[]> =>
  Promise.all(watches.map((one) => one.afterwards()));
