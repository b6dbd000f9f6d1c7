INSERT INTO `plans` (`name`, `daily`, `per_minute`) VALUES
	('trial', 1000, 60),
	('starter', 10000, 120),
	('paid', 100000, 600);
