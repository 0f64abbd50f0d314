/** Resolves on SIGTERM or SIGINT, or when the parent closes its channel. A later signal ends the process at once. */
export function waitForShutdown(): Promise<string> {
  return new Promise((resolve) => {
    const onShutdown = (reason: string) => {
      process.once('SIGINT', () => process.exit(130));
      process.once('SIGTERM', () => process.exit(143));
      resolve(reason);
    };
    process.once('SIGTERM', () => onShutdown('SIGTERM'));
    process.once('SIGINT', () => onShutdown('SIGINT'));
    if (process.channel === undefined) return;
    process.once('disconnect', () => onShutdown('parent process ended'));
    // The channel must not keep a finished process alive.
    process.channel.unref();
  });
}
