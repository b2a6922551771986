// Runs telegram-test-api on 127.0.0.1, on the port given, until it is killed.
'use strict';

const TelegramServer = require('telegram-test-api');

const server = new TelegramServer({ host: '127.0.0.1', port: Number(process.argv[2]), storeTimeout: 3600 });
server.start().then(() => console.log('listening'));
