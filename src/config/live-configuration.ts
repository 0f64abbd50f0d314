import { isDeepStrictEqual } from 'node:util';
import type { Configuration } from './configuration.ts';
import { snakeCase } from './option.ts';
import { entries, singleOptions } from './schema.ts';
import { isTable, type Table } from './table.ts';

/**
 * The configuration in effect. A module that reads an option from its section at each use sees reloads; a module that
 * copies it at startup keeps the old value. In the schema, `reload` marks options whose changes a reload applies.
 */
export class LiveConfiguration {
  #current: Configuration;
  /** This process's part of the configuration. */
  #own: Configuration;
  readonly #ownOf: (configuration: Configuration) => Configuration;
  readonly #listeners: ((configuration: Configuration) => void)[] = [];
  /** The configuration in effect in this process; a reload changes it and its sections in place. */
  readonly view: Configuration;

  /** @param ownOf - computes the part for this process; absent: the whole configuration. */
  constructor(
    configuration: Configuration,
    ownOf: (configuration: Configuration) => Configuration = (whole) => whole,
  ) {
    this.#ownOf = ownOf;
    this.#current = configuration;
    this.#own = ownOf(configuration);
    this.view = Object.fromEntries(
      Object.entries(this.#own).map(([name, value]) => [name, isTable(value) ? { ...value } : value]),
    ) as Configuration;
  }

  /** The configuration in effect across all processes. Immutable. */
  get current(): Configuration {
    return this.#current;
  }

  /** Calls the listener synchronously on each change. A listener rejects the configuration by throwing. */
  follow(listener: (configuration: Configuration) => void): void {
    this.#listeners.push(listener);
  }

  /** Replaces the configuration. If a listener rejects it, restores the previous configuration and throws. */
  replace(configuration: Configuration): void {
    const before = this.#current;
    try {
      this.#set(configuration);
      for (const listener of this.#listeners) listener(this.#own);
    } catch (error) {
      this.#set(before);
      this.#restoreListeners();
      throw error;
    }
  }

  #set(configuration: Configuration): void {
    this.#current = configuration;
    this.#own = this.#ownOf(configuration);
    const view = this.view as unknown as Table;
    for (const [name, value] of Object.entries(this.#own)) {
      if (isTable(value)) Object.assign(view[name] as Table, value);
      else view[name] = value;
    }
  }

  /** Passes the previous configuration to every listener, even if another listener throws. */
  #restoreListeners(): void {
    for (const listener of this.#listeners) {
      try {
        listener(this.#own);
      } catch {}
    }
  }
}

/** Effect of switching to another configuration. Options are named as in the file. */
export type Changes = Readonly<{
  /** New values of options that a reload applies, and old values of all others. */
  configuration: Configuration;
  changed: readonly string[];
  restart: readonly string[];
}>;

/** Only a restart can turn mail on or off. */
const hasSameMailAvailability = ({ mail: before }: Configuration, { mail: after }: Configuration): boolean =>
  (before.smtpUrl === null) === (after.smtpUrl === null);

/** Conditions for options marked `reload` that a reload can apply only in some cases. */
const conditions: Readonly<Record<string, (before: Configuration, after: Configuration) => boolean>> = {
  // Whether the embedded ledger runs instead of nodes is decided at startup, and so are the networks.
  upstream: (before, after) =>
    after.upstreams.length > 0 &&
    (before.upstreams.length > 0 || !before.dev) &&
    after.upstreams.every(({ network }) => before.networks.names.includes(network)),
  'mail.smtp_url': hasSameMailAvailability,
  'mail.from': hasSameMailAvailability,
};

/** `[[upstream]]` and `[[sender]]` have plural names in the program. */
const fileNames: Readonly<Record<string, string>> = { upstreams: 'upstream', senders: 'sender' };

const fileNameOf = (name: string): string => fileNames[name] ?? snakeCase(name);

/** Not in the schema, but applied by a reload: the path of the file, and the plans. */
const reloadable: ReadonlySet<string> = new Set(['file', 'plans']);

function isReloadable(name: string, before: Configuration, after: Configuration): boolean {
  const entry = entries[name];
  const row = singleOptions.get(name) ?? (entry?.form === 'tables' ? entry : undefined);
  const isMarked = reloadable.has(name) || row?.reload === true;
  return isMarked && (conditions[name]?.(before, after) ?? true);
}

/** Compares two configurations option by option. Fixed limits keep their values until a restart. */
export function changesBetween(before: Configuration, after: Configuration): Changes {
  const changed: string[] = [];
  const restart: string[] = [];
  const applies = (name: string): boolean => {
    const isApplied = isReloadable(name, before, after);
    (isApplied ? changed : restart).push(name);
    return isApplied;
  };
  const sectionOf = (section: string, old: Table, fresh: Table): Table => {
    const fields = Object.keys(old).map((field) => {
      const name = `${section}.${snakeCase(field)}`;
      const isSame = isDeepStrictEqual(old[field], fresh[field]) || !singleOptions.has(name);
      return [field, isSame || !applies(name) ? old[field] : fresh[field]];
    });
    return Object.fromEntries(fields);
  };
  const sections = Object.keys(before).map((key) => {
    const [old, fresh] = [before, after].map((all): unknown => all[key as keyof Configuration]);
    const name = fileNameOf(key);
    if (isDeepStrictEqual(old, fresh)) return [key, old];
    if (isTable(old) && isTable(fresh)) return [key, sectionOf(name, old, fresh)];
    return [key, applies(name) ? fresh : old];
  });
  const configuration = Object.fromEntries(sections) as Configuration;
  return { configuration, changed: changed.sort(), restart: restart.sort() };
}
