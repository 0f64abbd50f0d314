/** Merges options with defaults. Getters in either object stay live: they are evaluated on each read. */
export function withDefaults<Options extends object>(
  defaults: Options,
  options: Partial<Options> = {},
): Options {
  const members = {
    ...Object.getOwnPropertyDescriptors(defaults),
    ...Object.getOwnPropertyDescriptors(options),
  };
  return Object.defineProperties({}, members) as Options;
}
