// The region and account of the local system. Emulators accept any; templates, ARNs and events must have the same ones.

/** The region of the local system. */
export const localRegion = 'us-east-1';
/** The account of the local system: twelve digits, as on AWS. */
export const localAccountId = '000000000000';
