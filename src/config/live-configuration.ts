import type { Configuration } from './configuration.ts';

/** A table of fields, not a list and not a single value. */
export const isSection = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a member of a section is now. One for each, so that reading one of a section that is held is no look-up by name. */
type Cell = { value: unknown };

/** An object whose members are, at each reading, those of the section that was set last. */
class LiveSection {
  readonly view: object;
  readonly #cells: ReadonlyMap<string, Cell>;

  constructor(section: object) {
    this.#cells = new Map(Object.entries(section).map(([name, value]) => [name, { value }]));
    const members = [...this.#cells].map(([name, cell]) => [
      name,
      { enumerable: true, get: () => cell.value },
    ]);
    this.view = Object.defineProperties({}, Object.fromEntries(members)) as object;
  }

  set(section: Readonly<Record<string, unknown>>): void {
    for (const [name, cell] of this.#cells) cell.value = section[name];
  }
}

/**
 * The configuration that is in force. Parts hold its sections, and those that read a field at each use see the new one
 * from the moment of a change on; what is copied at the start stays as it was then (reloadable.ts says which is which).
 */
export class LiveConfiguration {
  #current: Configuration;
  /** As it holds for this process. */
  #own: Configuration;
  readonly #ownOf: (configuration: Configuration) => Configuration;
  readonly #listeners: ((configuration: Configuration) => void)[] = [];
  readonly #sections = new Map<keyof Configuration, LiveSection>();
  /** Always says what is in force for this process. */
  readonly view: Configuration;

  /** @param ownOf - what of the configuration holds for this process, where it is one of several; absent: all of it. */
  constructor(
    configuration: Configuration,
    ownOf: (configuration: Configuration) => Configuration = (whole) => whole,
  ) {
    this.#ownOf = ownOf;
    this.#current = configuration;
    this.#own = ownOf(configuration);
    const names = Object.keys(configuration) as (keyof Configuration)[];
    for (const name of names) {
      const section = this.#own[name];
      if (isSection(section)) this.#sections.set(name, new LiveSection(section));
    }
    const members = names.map((name) => [
      name,
      { enumerable: true, get: () => this.#sections.get(name)?.view ?? this.#own[name] },
    ]);
    this.view = Object.defineProperties({}, Object.fromEntries(members)) as Configuration;
  }

  /** What is in force now in all processes together, which is never changed itself. */
  get current(): Configuration {
    return this.#current;
  }

  /** Is told of what holds here at each change, within its one moment: must not wait. What it cannot take it throws at. */
  follow(listener: (configuration: Configuration) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Puts another one into force, at once for everybody; where one of them cannot take it, all have the one before again.
   * @throws what that one threw
   */
  replace(configuration: Configuration): void {
    const before = this.#current;
    try {
      this.#set(configuration);
      for (const listener of this.#listeners) listener(this.#own);
    } catch (error) {
      this.#set(before);
      this.#notifyAgain();
      throw error;
    }
  }

  #set(configuration: Configuration): void {
    this.#current = configuration;
    this.#own = this.#ownOf(configuration);
    for (const [name, section] of this.#sections)
      section.set(this.#own[name] as unknown as Readonly<Record<string, unknown>>);
  }

  /** Of what they had before; one that cannot take even that must not keep it from the others. */
  #notifyAgain(): void {
    for (const listener of this.#listeners) {
      try {
        listener(this.#own);
      } catch {}
    }
  }
}
