package postgres

const fewApps = 4096
