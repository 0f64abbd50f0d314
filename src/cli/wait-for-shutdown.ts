/**
 * Resolves when the program should stop: on SIGTERM, SIGINT, or when the parent closed its channel. A second
 * signal ends the program at once.
 */
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
    process.once('disconnect', () => onShutdown('the parent process is gone'));
    // Listening to the channel must not keep a process that is done from ending.
    process.channel.unref();
  });
}
