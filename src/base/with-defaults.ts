/** Options with defaults. Getters on either side stay live: they are evaluated with each read. */
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
