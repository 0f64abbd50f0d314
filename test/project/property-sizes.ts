import fc from 'fast-check';

/** Generates values up to the maximum length that a property specifies, not only up to the default of ten. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), defaultSizeToMaxWhenMaxSpecified: true });
