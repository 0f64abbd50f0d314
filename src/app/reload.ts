import type { Logger } from '../base/log.ts';
import { type Configuration, crossCheck } from '../config/configuration.ts';
import { ConfigurationError, describeProblem, type Problem } from '../config/errors.ts';
import { type Changes, changesBetween, type LiveConfiguration } from '../config/live-configuration.ts';
import { ApiError } from '../control/api/api-error.ts';
import type { ReloadActor, ReloadResult } from '../control/api/services.ts';
import type { Store } from '../control/database/store.ts';
import { nextVersion, transact, writeAudit } from '../control/database/transaction.ts';
import { syncPlans } from '../control/plans.ts';
import { errorText } from './error-text.ts';
import type { ActiveNodes } from './upstreams/active-nodes.ts';

const BY_SIGNAL: ReloadActor = { actor: 'system:SIGHUP', address: null, userAgent: null, requestId: null };

export type ReloadSource = Readonly<{
  /** Reads the configuration file, environment and command line. @throws ConfigurationError */
  read: () => Configuration;
  logLevelOf: (log: Configuration['log']) => string;
}>;

/** The other processes of the service, which get the same configuration. The methods never reject. */
export type ReloadFollowers = Readonly<{
  check(changes: ProposedChanges): Promise<readonly Problem[]>;
  apply(configuration: Configuration): Promise<void>;
}>;

export type ProposedChanges = Pick<Changes, 'configuration' | 'restart'>;

export type ReloadParts = Readonly<{
  live: LiveConfiguration;
  reloadSource: ReloadSource;
  store: Store;
  activeNodes: Pick<ActiveNodes, 'addedNames' | 'setFileNodes'>;
  log: Logger;
  /** Absent if the service has no other processes. */
  followers?: ReloadFollowers;
}>;

type FollowerParts = Pick<ReloadParts, 'live' | 'activeNodes' | 'log'>;

function followConfiguration({ live, activeNodes, log }: FollowerParts, reloadSource: ReloadSource): void {
  live.follow(({ upstreams, upstreamPool }) => activeNodes.setFileNodes(upstreams, upstreamPool));
  live.follow((configuration) => {
    log.level = reloadSource.logLevelOf(configuration.log);
  });
}

/** Finds node name conflicts, and new values that conflict with options that change only at a restart. */
export function problemsOf(
  { configuration, restart }: ProposedChanges,
  addedNames: readonly string[],
): Problem[] {
  const source = configuration.file ?? 'configuration';
  const problems: Problem[] = [];
  const found = restart.length === 0 ? [] : crossCheck(configuration, (field) => ({ source, field }));
  const wait = `${restart.join(', ')} ${restart.length === 1 ? 'needs' : 'need'}`;
  for (const { message, ...where } of found) {
    problems.push({ ...where, message: `${message}, or restart, which ${wait}` });
  }
  const added = new Set(addedNames);
  configuration.upstreams.forEach(({ name }, index) => {
    if (!added.has(name)) return;
    const message = `"${name}" is already the name of an added node: choose another name`;
    problems.push({ source, field: `upstream[${index}].name`, message });
  });
  return problems;
}

async function toCallerResult(reloading: Promise<ReloadResult>): Promise<ReloadResult> {
  try {
    return await reloading;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const fields = Object.fromEntries(
      error.problems.map(({ source, field, message }) => [field || source, message]),
    );
    const text = `configuration rejected, nothing changed: ${error.message}`;
    throw new ApiError(409, 'INVALID_CONFIGURATION', text, { fields });
  }
}

/**
 * Reloads the configuration: checks all of it, then changes either all reloadable options at once or none. Reports
 * changed options that need a restart.
 */
export class Reload {
  readonly #parts: ReloadParts;
  /** The last reload in the queue; reloads run one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    followConfiguration(parts, parts.reloadSource);
  }

  /** @throws ApiError 409 with the problem of each option; the driver's error */
  forCaller(by: ReloadActor): Promise<ReloadResult> {
    return toCallerResult(this.enqueue(by));
  }

  async forSignal(): Promise<void> {
    await this.enqueue(BY_SIGNAL).catch(() => {});
  }

  /** Reloads after all pending reloads. @throws ConfigurationError; the driver's error. */
  enqueue(by: ReloadActor): Promise<ReloadResult> {
    const reloading = this.#last.then(() => this.#reloadNow(by));
    this.#last = reloading.catch(() => {});
    return reloading;
  }

  async #reloadNow(by: ReloadActor): Promise<ReloadResult> {
    const { live, log, followers } = this.#parts;
    try {
      const changes = changesBetween(live.current, this.#parts.reloadSource.read());
      await this.#check(changes);
      await this.#record(changes, by);
      await this.#replace(changes, by);
      await followers?.apply(changes.configuration);
      this.#logChanges(changes);
      return { changed: changes.changed, restart: changes.restart };
    } catch (error) {
      if (error instanceof ConfigurationError) {
        const problems = error.problems.map(describeProblem);
        log.error({ problems }, 'Configuration reload rejected; keeping the current configuration');
      } else {
        const reason = errorText(error);
        log.error({ reason }, 'Configuration reload failed; keeping the current configuration');
      }
      throw error;
    }
  }

  async #check(changes: Changes): Promise<void> {
    const { activeNodes, followers } = this.#parts;
    const own = problemsOf(changes, activeNodes.addedNames);
    const problems = own.length > 0 ? own : ((await followers?.check(changes)) ?? []);
    if (problems.length > 0) throw new ConfigurationError(problems);
  }

  /** Replaces the live configuration. If a configuration listener rejects it, undoes the change in the store. */
  async #replace(changes: Changes, by: ReloadActor): Promise<void> {
    const { live, log } = this.#parts;
    const before = live.current;
    try {
      live.replace(changes.configuration);
    } catch (fault) {
      const undone = { ...changes, configuration: before };
      await this.#record(undone, by, 'configuration.reload-undone').catch((error: unknown) => {
        const reason = errorText(error);
        log.error({ reason }, 'Rollback failed: plans and audit log show the rejected configuration');
      });
      throw fault;
    }
  }

  /** Stores changed plans and an audit entry. If the database is down, SIGHUP still works unless plans changed. */
  async #record(
    { configuration, changed, restart }: Changes,
    by: ReloadActor,
    action = 'configuration.reload',
  ): Promise<void> {
    const { store, log } = this.#parts;
    const setsPlans = changed.includes('plans');
    try {
      if (setsPlans) await syncPlans(store, configuration.plans, by.actor);
      const detail = { changed: changed.join(', '), restart: restart.join(', ') };
      await transact(store, async (trx) => {
        const version = await nextVersion(trx);
        const entry = { ...by, at: Date.now(), action, detail };
        await writeAudit(trx, version, entry);
      });
    } catch (error) {
      if (setsPlans || by !== BY_SIGNAL) throw error;
      log.warn({ reason: errorText(error) }, 'Configuration reload not recorded in the audit log');
    }
  }

  #logChanges({ changed, restart }: Changes): void {
    const { log } = this.#parts;
    log.info({ changed }, changed.length === 0 ? 'Configuration unchanged' : 'Configuration changed');
    if (restart.length > 0) log.warn({ restart }, 'Changed options need a restart');
  }
}

export type ReloadService = Pick<Reload, 'forCaller' | 'forSignal'>;

/** In a worker: passes reload requests to the primary. @param requestReload - may reject with ConfigurationError. */
export function openWorkerReload(
  parts: FollowerParts,
  reloadSource: ReloadSource,
  requestReload: (by: ReloadActor) => Promise<ReloadResult>,
): ReloadService {
  followConfiguration(parts, reloadSource);
  return { forCaller: (by) => toCallerResult(requestReload(by)), forSignal: async () => {} };
}
